// Shares of a lower bound on the SSE of every partition, from the nearest neighbours of each
// record.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// The sum of the `count` smallest of some values, of which as many as needed are `far`.
class SmallestSum {
 public:
  void reset(std::int64_t count, double far) {
    count_ = static_cast<std::size_t>(count);
    far_ = limit_ = far;
    heap_.clear();
  }
  // The largest of the smallest. Only what is below need be offered.
  double limit() const { return limit_; }
  void offer(double value) {
    if (!(value < limit_)) return;
    if (heap_.size() == count_) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = value;
    } else {
      heap_.push_back(value);
    }
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() == count_) limit_ = heap_.front();
  }
  // No more than the sum of the values before each was rounded.
  double lowered() const {
    double sum = static_cast<double>(count_ - heap_.size()) * far_;
    double size = std::abs(sum);
    for (const double value : heap_) {
      sum += value;
      size += std::abs(value);
    }
    return sum - static_cast<double>(count_ + 8) * 0x1.0p-53 * size;
  }

 private:
  std::size_t count_ = 0;
  double far_ = 0.0;
  double limit_ = 0.0;
  std::vector<double> heap_;
};

// One share per record, none negative, such that the shares of the records of any group of at
// least k add up to no more than its SSE; so all shares together are at most the SSE of any
// partition.
//
// Why. Let D be squared distances. The SSE of a group S of k records is 1/k of what its pairs cost,
// D each.
//   Stars. Split each pair's cost in two parts, D_ij = v_ij + v_ji. The pairs of S cost what every
//   record i of S pays to the k-1 others: at least its k-1 smallest parts v_ij over all j. Its
//   share is 1/k of these.
//   Triples. Before that, let any two pairs of a triple agree on what one gives to the other. The
//   pairs of S together cost what they did, and pair ij costs at least
//       c_ij = D_ij + the k-2 smallest, over all l, of what it gets from il and from jl,
//   so c may take the place of D.
//   Larger groups. Averaged over the groups of k within a group of m, the sum of shares falls to
//   k/m and the SSE to (k-1)/(m-1), which is no larger.
//
// Gifts. Each pair makes an offer g, negative if it would rather take: it gives g - g' to a pair
// that offers g', but no more than D / 2 (k-2). In S, it meets 2 (k-2) others in triples, so no
// cost becomes negative, and no share.
//
// Pairs that are not listed: neither record is among the `length` nearest of the other, nor are
// both among the records with the largest reach, the distance to the last of the list. So D_ij is
// at least r_i and r_j, the reaches, and one of these is at most q, the largest reach of all other
// records. Let r'_i be the smaller of r_i and q, and a_i the sum of the k-2 smallest offers of i's
// listed pairs as far as negative, without its sign. Choose a part f_i such that i's claim,
// f_i + a_i, is at most r_i - (1 - CLAIM) r'_i, where CLAIM < 1/2. Unlisted pairs offer
//       g_ij = (D_ij - claim_i - claim_j) / 2 (k-2),
// which is positive: if r_j <= r_i, then D_ij >= r_i, r_j <= r'_i and claim_j <= CLAIM r_j. Then
//       c_ij >= D_ij - 2 (k-2) g_ij - a_i - a_j = f_i + f_j,
// so a record's part of such a pair may be its f, without a look at the pair. And whoever j is,
//       g_ij >= (r_i - CLAIM r'_i - claim_i) / 2 (k-2).
// Without gifts, f_i = r_i - r'_i / 2 will do.
//
// Good parts and offers. All are allowed; these are found fast. Each record has a price such that,
// as far as can be, k-1 of its pairs cost less than both prices: in turn, each price is put between
// the k-1st and the kth smallest of cost less the other's price. A part is the own price and half
// of the rest, so that without gifts the bound tends to that of the cheapest graph in which all
// records have k-1 pairs, fractions allowed. Then each pair raises its offer by a third of its
// rest, divided among its triples, and so on. For k = 3, where triples are groups and a third of D
// less both prices can describe any shares, it offers that instead.
//
// Rounding. Distances are lowered by more than their error, and set to zero below 2^-960 and to
// 2^960 above. From there on each step computes a lower bound of what it stands for; gifts between
// listed pairs are exactly what both compute.
//
// O(n length^2) a round; memory O(n length).
class NeighbourBound {
 public:
  // `lists`: exact; `remote`: so many records of the largest reach have all their pairs listed.
  // Needs 2 <= k <= n, 1 <= length < n and 1 <= remote <= n. Faster when near records are near in
  // memory.
  NeighbourBound(Points points, Lists lists, std::int64_t k, std::int64_t remote,
                 std::int64_t threads, Watch& watch)
      : points_(points),
        lists_(lists),
        k_(k),
        remote_(remote),
        triples_(k - 2),
        threads_(threads),
        watch_(watch),
        price_(static_cast<std::size_t>(points.n)),
        need_(static_cast<std::size_t>(points.n)),
        border_(static_cast<std::size_t>(points.n)),
        now_(static_cast<std::size_t>(points.n)),
        best_(static_cast<std::size_t>(points.n)) {
    MICROAGG_ASSERT(2 <= k && k <= points.n && 1 <= remote && remote <= points.n);
    MICROAGG_ASSERT(1 <= lists.length && lists.length < points.n);
    MICROAGG_ASSERT(static_cast<std::int64_t>(lists.rows.size()) == points.n * lists.length);
  }

  // With at most so many rounds of giving. Heeds the deadline: then the best so far, if only zeros.
  [[nodiscard]] Array<double> run(std::int64_t rounds) {
    try {
      link();
      take_shares();
      first_prices();
      take_shares();
      if (triples_ > 0 && rounds > 0) {
        offer_.resize(other_.size());
        by_offer_.resize(other_.size());
        do {
          make_offers();
          charge();
          improve_prices(SWEEPS);
        } while (take_shares() && --rounds > 0);
      }
    } catch (const DeadlinePassed&) {  // what there is, is proven
    }
    for (double& share : best_) share = within(share * unit_);
    return std::move(best_);
  }

 private:
  static constexpr int FIRST_SWEEPS = 4;
  static constexpr int SWEEPS = 2;
  static constexpr double LEAST_GAIN = 0.003;  // of a round, for another one
  static constexpr double CLAIM = 0.47;
  static constexpr double MOST_TAKEN = 0.15;  // a_i as a share of the reach
  static constexpr double MARGIN = 1.05;      // of f_i over the parts that counted before
  static constexpr double SHORTEST = 0x1.0p-960;
  static constexpr double LONGEST = 0x1.0p960;
  static constexpr std::int64_t CHUNK = 64;

  // What is known of all pairs of a record that are not listed.
  struct Border {
    double reach;
    double part;   // f
    double claim;  // f + a
    double offer;  // no less
  };
  struct Offer {
    float gift;
    float most;  // that it gives
  };
  struct ListedOffer {
    Offer offer;
    Row other;
  };
  struct Nothing {};

  // body(i, scratch) returns about how many steps it took.
  template <class Scratch, class Body>
  void each_record(Body body) {
    const std::int64_t n = points_.n;
    in_parallel((n + CHUNK - 1) / CHUNK, threads_, [&](auto next) {
      Poll poll(watch_, 200'000, Deadline::HEED);
      Scratch scratch;
      for (std::int64_t chunk; (chunk = next()) * CHUNK < n;) {
        for (std::int64_t i = chunk * CHUNK; i < std::min(n, (chunk + 1) * CHUNK); ++i) {
          poll.tick(body(i, scratch));
        }
      }
    });
  }

  // --- pairs ---

  double distance(std::int64_t i, std::int64_t j) const {
    const double d = squared_distance(points_.row(i), points_.row(j), points_.p);
    const double lowered = (1.0 - static_cast<double>(points_.p + 8) * 0x1.0p-53) * within(d);
    return within(lowered / unit_);
  }
  static double within(double d) { return d < SHORTEST ? 0.0 : std::min(d, LONGEST); }
  std::int64_t degree(std::int64_t i) const { return begins_[i + 1] - begins_[i]; }

  // A power of two, so that dividing by it rounds nothing: common distances become about 1, which
  // is what single precision needs.
  void choose_unit() {
    std::vector<double> last(price_.size());
    each_record<Nothing>([&](std::int64_t i, Nothing&) {
      last[i] = distance(i, lists_.of(i).back());
      return points_.p;
    });
    const auto middle = last.begin() + points_.n / 2;
    std::nth_element(last.begin(), middle, last.end());
    if (*middle > 0.0) unit_ = std::ldexp(1.0, std::ilogb(*middle));
  }

  // The reach of each record. Returns the most remote records; the others reach no farther than
  // common_reach_.
  Rows find_reach() {
    each_record<Nothing>([&](std::int64_t i, Nothing&) {
      border_[i].reach =
          lists_.length == points_.n - 1 ? LONGEST : distance(i, lists_.of(i).back());
      return points_.p;
    });
    Rows remote(price_.size());
    std::iota(remote.begin(), remote.end(), Row{0});
    const auto last = remote.begin() + remote_ - 1;
    std::nth_element(remote.begin(), last, remote.end(), [this](Row a, Row b) {
      return farther({border_[a].reach, a}, {border_[b].reach, b});
    });
    common_reach_ = border_[*last].reach;
    remote.erase(last + 1, remote.end());
    for (Border& border : border_) {
      border.part = (border.reach - common(border) / 2.0) * (1.0 - 0x1.0p-46);
    }
    return remote;
  }
  double common(const Border& border) const { return std::min(border.reach, common_reach_); }

  // Each listed pair has two slots that know each other, one with each of its records.
  void link() {
    const std::int64_t n = points_.n;
    Poll poll(watch_, 200'000, Deadline::HEED);
    Array<std::int64_t> begins(price_.size() + 1);  // of those who list a record
    for (const Row row : lists_.rows) ++begins[row];
    for (std::int64_t i = 1; i <= n; ++i) begins[i] += begins[i - 1];
    Rows listed_by(lists_.rows.size());
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (const Row row : lists_.of(i)) listed_by[--begins[row]] = static_cast<Row>(i);
      poll.tick(lists_.length);
    }
    choose_unit();
    const Rows remote = find_reach();
    std::vector<bool> is_remote(price_.size());
    for (const Row row : remote) is_remote[row] = true;
    begins_.resize(price_.size() + 1);
    other_.reserve(lists_.rows.size() * 3 / 2);
    for (std::int64_t i = 0; i < n; ++i) {
      if (is_remote[i]) {
        const auto is_other = [i](Row row) { return row != i; };
        std::copy_if(remote.begin(), remote.end(), std::back_inserter(other_), is_other);
      }
      other_.insert(other_.end(), lists_.of(i).begin(), lists_.of(i).end());
      other_.insert(other_.end(), listed_by.begin() + begins[i], listed_by.begin() + begins[i + 1]);
      std::sort(other_.begin() + begins_[i], other_.end());
      other_.erase(std::unique(other_.begin() + begins_[i], other_.end()), other_.end());
      begins_[i + 1] = static_cast<std::int64_t>(other_.size());
      poll.tick(8 * degree(i));
    }
    twin_.resize(other_.size());
    distance_.resize(other_.size());
    each_record<Nothing>([&](std::int64_t i, Nothing&) {
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
        const Row* slots = other_.data() + begins_[other_[s]];
        const Row* twin = std::lower_bound(slots, slots + degree(other_[s]), static_cast<Row>(i));
        twin_[s] = twin - other_.data();
        distance_[s] = distance(i, other_[s]);
      }
      return degree(i) * points_.p;
    });
    cost_ = distance_;
  }

  // --- prices and shares ---

  // Half of the k-1st smallest distance, and then better.
  void first_prices() {
    each_record<SmallestSum>([&](std::int64_t i, SmallestSum& nearest) {
      nearest.reset(k_ - 1, border_[i].reach);
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) nearest.offer(distance_[s]);
      price_[i] = nearest.limit() / 2.0;
      return degree(i);
    });
    improve_prices(FIRST_SWEEPS);
  }

  void improve_prices(int sweeps) {
    Poll poll(watch_, 200'000, Deadline::HEED);
    std::vector<double> values;
    for (; sweeps > 0; --sweeps) {
      for (std::int64_t i = 0; i < points_.n; ++i) {
        values.clear();
        for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
          values.push_back(cost_[s] - price_[other_[s]]);
        }
        price_[i] = std::clamp(middle(values), 0.0, border_[i].part);
        poll.tick(4 * degree(i));
      }
    }
  }
  // Between the k-1st and the kth smallest; beyond all if there are not so many.
  double middle(std::vector<double>& values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    if (count < k_ - 1) return LONGEST;
    const auto rank = values.begin() + (k_ - 2);
    std::nth_element(values.begin(), rank, values.end());
    return count < k_ ? *rank : *rank / 2.0 + *std::min_element(rank + 1, values.end()) / 2.0;
  }

  // The two parts of a pair add up to no more than its cost.
  double part(std::int64_t i, std::int64_t s) const {
    const std::int64_t low = std::min<std::int64_t>(i, other_[s]);
    const std::int64_t high = std::max<std::int64_t>(i, other_[s]);
    const double cost = cost_[s];
    const double of_low = std::clamp((cost + (price_[low] - price_[high])) / 2.0, 0.0, cost);
    return i == low ? of_low : (cost - of_low) * (1.0 - 0x1.0p-51);
  }

  // Whether the shares at these prices are so much better that another round is worth it.
  bool take_shares() {
    each_record<SmallestSum>([&](std::int64_t i, SmallestSum& parts) {
      parts.reset(k_ - 1, border_[i].part);
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) parts.offer(part(i, s));
      need_[i] = parts.limit();
      now_[i] = std::max(0.0, parts.lowered() / static_cast<double>(k_));
      return 4 * degree(i);
    });
    double total = 0.0;
    for (const double share : now_) total += share;
    const bool worth = total > total_ * (1.0 + LEAST_GAIN);
    if (total > total_) {
      total_ = total;
      best_.swap(now_);
    }
    return worth;
  }

  // --- gifts ---

  void make_offers() {
    const auto triples = static_cast<double>(triples_);
    each_record<Nothing>([&](std::int64_t i, Nothing&) {
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
        const Row j = other_[s];
        const double prices = price_[i] + price_[j];
        const double gift = k_ == 3 ? (distance_[s] - prices) / 3.0
                                    : offer_[s].gift + (cost_[s] - prices) / (3.0 * triples);
        const double least = -MOST_TAKEN / triples * std::min(border_[i].reach, border_[j].reach);
        const double most = distance_[s] / (2.0 * triples) * (1.0 - 0x1.0p-22);
        offer_[s] = single(std::clamp(gift, least, most), most);
        by_offer_[s] = {offer_[s], j};
      }
      return 4 * degree(i);
    });
    each_record<SmallestSum>([&](std::int64_t i, SmallestSum& taken) {
      const std::span<ListedOffer> listed = std::span(by_offer_).subspan(begins_[i], degree(i));
      std::sort(listed.begin(), listed.end(), [](const ListedOffer& a, const ListedOffer& b) {
        return a.offer.gift < b.offer.gift || (a.offer.gift == b.offer.gift && a.other < b.other);
      });
      taken.reset(triples_, 0.0);
      for (const ListedOffer& one : listed) {
        if (one.offer.gift >= taken.limit()) break;
        taken.offer(one.offer.gift);
      }
      Border& border = border_[i];
      const double negative = taken.lowered();
      const double most = (border.reach - (1.0 - CLAIM) * common(border)) * (1.0 - 0x1.0p-46);
      border.part = std::min(need_[i] * MARGIN, most + negative);
      border.claim = (border.part - negative) * (1.0 + 0x1.0p-50);
      const double offer = border.reach - CLAIM * common(border) - border.claim;
      border.offer = (offer - 0x1.0p-48 * border.reach) / (2.0 * triples);
      return 16 * degree(i);
    });
  }
  // Single precision saves half the memory. Any offer is allowed; but a pair must not give more
  // than its distance lets it, nor offer more than it gives.
  static Offer single(double gift, double most) {
    if (most < 0x1.0p-100) return {0.0F, 0.0F};  // beyond it, rounding may double a number
    most = std::min(most, 1e38);
    return {static_cast<float>(std::clamp(gift, -1e38, most)), static_cast<float>(most)};
  }

  // What a pair gets from one that offers `gift` and gives at most `most`.
  static double gets(Offer pair, double gift, double most) {
    return std::max<double>(-pair.most, std::min(gift - pair.gift, most));
  }
  // No more than what it gets from the unlisted pair ij at this distance or farther.
  double gets(Offer pair, std::int64_t i, std::int64_t j, double at) const {
    const double share = 0.5 / static_cast<double>(triples_);
    const double most = at * (1.0 - 0x1.0p-49);
    const double claims = (border_[i].claim + border_[j].claim) * (1.0 + 0x1.0p-49);
    return gets(pair, (most - claims) * share, most * share);
  }
  // No more than what it gets from any unlisted pair of i.
  double gets(Offer pair, std::int64_t i) const {
    const double most = border_[i].reach * (0.5 - 0x1.0p-49) / static_cast<double>(triples_);
    return gets(pair, border_[i].offer, most);
  }
  double reach(std::int64_t i, std::int64_t j) const {
    return std::max(border_[i].reach, border_[j].reach);
  }

  // The pairs of the record at work, by the other record.
  struct Marks {
    struct Mark {
      Offer offer;
      Row met = NOT_LISTED;  // else the record itself or, later, that of the last pair looked at
    };
    static constexpr Row NOT_LISTED = -1;
    Array<Mark> of;
    SmallestSum gifts;
  };

  void charge() {
    each_record<Marks>([&](std::int64_t i, Marks& marks) {
      marks.of.resize(price_.size());
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
        marks.of[other_[s]] = {offer_[s], static_cast<Row>(i)};
      }
      std::int64_t steps = degree(i);
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
        if (other_[s] < i) continue;
        steps += collect(i, other_[s], offer_[s], marks);
        const double got = marks.gifts.lowered();
        const double cost = distance_[s] + got - 0x1.0p-51 * (distance_[s] + std::abs(got));
        cost_[s] = cost_[twin_[s]] = std::max(0.0, cost);
      }
      for (std::int64_t s = begins_[i]; s < begins_[i + 1]; ++s) {
        marks.of[other_[s]].met = Marks::NOT_LISTED;
      }
      return steps;
    });
  }

  // The smallest gifts pair ij can get. Marks are set for i's pairs.
  std::int64_t collect(std::int64_t i, Row j, Offer pair, Marks& marks) {
    SmallestSum& gifts = marks.gifts;
    const double beyond_i = gets(pair, i);
    const double beyond_j = gets(pair, j);
    gifts.reset(triples_, beyond_i + beyond_j);  // third records that are listed with neither
    const auto listed_of = [this](std::int64_t record) {
      return std::span(by_offer_).subspan(begins_[record], degree(record));
    };
    // Since offers do not exceed what pairs give at most, no listed pair gives less than its offer
    // without this.
    const double own = std::max(0.0F, pair.gift);
    const double least_i =
        std::min(beyond_i, std::max<double>(-pair.most, listed_of(i).front().offer.gift - own));
    std::int64_t steps = 0;
    for (const auto& [offer, l] : listed_of(j)) {
      ++steps;
      if (offer.gift - own + least_i >= gifts.limit()) break;
      if (l == i) continue;
      const double from_jl = gets(pair, offer.gift, offer.most);
      Marks::Mark& mark = marks.of[l];
      if (mark.met != Marks::NOT_LISTED) {
        mark.met = j;
        gifts.offer(from_jl + gets(pair, mark.offer.gift, mark.offer.most));
      } else if (from_jl + gets(pair, i, l, reach(i, l)) < gifts.limit()) {
        gifts.offer(from_jl + gets(pair, i, l, distance(i, l)));
      }
    }
    // Third records listed with i and not with j. If one is listed with j too, and was not met for
    // giving more than the limit, it does not matter what else is offered for it.
    for (const auto& [offer, l] : listed_of(i)) {
      ++steps;
      if (offer.gift - own + beyond_j >= gifts.limit()) break;
      if (l == j || marks.of[l].met == j) continue;
      const double from_il = gets(pair, offer.gift, offer.most);
      if (from_il + gets(pair, j, l, reach(j, l)) < gifts.limit()) {
        gifts.offer(from_il + gets(pair, j, l, distance(j, l)));
      }
    }
    return steps;
  }

  Points points_;
  Lists lists_;
  std::int64_t k_;
  std::int64_t remote_;
  std::int64_t triples_;  // of a pair, in a group of k
  std::int64_t threads_;
  Watch& watch_;
  Array<std::int64_t> begins_;  // of a record's slots
  // Of each slot: the pair's other record, its other slot, distance, cost after gifts, and offer.
  Rows other_;
  Array<std::int64_t> twin_;
  Array<double> distance_;
  Array<double> cost_;
  Array<Offer> offer_;
  Array<ListedOffer> by_offer_;  // those of each record, the smallest first
  Array<double> price_;
  Array<double> need_;  // the largest part that counts
  Array<Border> border_;
  double common_reach_ = 0.0;
  Array<double> now_;
  Array<double> best_;
  double total_ = 0.0;
  double unit_ = 1.0;  // of distances and all that
};

}  // namespace microagg
