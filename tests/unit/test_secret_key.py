"""The key of a release: what follows from it, and that nothing shows it."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from microagg.secret_key import SecretKey

KEY = SecretKey(bytes(range(32)))


def test_keys_are_drawn_and_never_shown() -> None:
    first, second = SecretKey.drawn(), SecretKey.drawn()
    assert first != second
    assert len(first.secret) == 32
    assert SecretKey.from_hex(first.hex) == first
    for shown in (repr(first), str(first)):
        assert first.hex[:8] not in shown
        assert repr(first.secret) not in shown


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "00" * 31, "00" * 33])
def test_a_key_has_64_digits(text: str) -> None:
    with pytest.raises(ValueError, match=r"32 bytes|hexadecimal"):
        SecretKey.from_hex(text)


def test_each_purpose_has_numbers_of_its_own() -> None:
    assert KEY.whole_numbers("a", 3).tolist() == KEY.whole_numbers("a", 5).tolist()[:3]
    assert KEY.whole_numbers("a", 3).tolist() != KEY.whole_numbers("b", 3).tolist()
    assert KEY.text("a") != KEY.text("b")
    expected = hashlib.shake_256(bytes(range(32)) + b"a").digest(16)
    words = [int.from_bytes(expected[at : at + 8], "little") for at in (0, 8)]
    assert KEY.whole_numbers("a", 2).tolist() == words


def test_permutations_have_every_number_once_at_any_place() -> None:
    for n in (0, 1, 2, 1000):
        assert sorted(KEY.permutation("order", n).tolist()) == list(range(n))
    places = [SecretKey(bytes([at]) * 32).permutation("order", 4).tolist() for at in range(256)]
    assert len({tuple(each) for each in places}) == 24


def test_normal_numbers_have_their_moments() -> None:
    drawn = KEY.standard_normal("noise", (100_001, 3))
    assert drawn.shape == (100_001, 3)
    assert np.isfinite(drawn).all()
    assert np.allclose(drawn.mean(axis=0), 0.0, atol=0.02)
    assert np.allclose(np.cov(drawn.T), np.eye(3), atol=0.02)
    assert np.mean(np.abs(drawn) > 1.959964) == pytest.approx(0.05, abs=0.002)
    assert np.mean(np.abs(drawn) > 3.290527) == pytest.approx(0.001, abs=0.0003)
