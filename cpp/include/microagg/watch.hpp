// What a running kernel and the outside world tell each other, without locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace microagg {

// One Watch belongs to one run and is shared by all kernels of it. The caller sets `stop` (cancel)
// and the deadline; kernels poll both about every millisecond and report `done` and `best`.
class Watch {
 public:
  Watch() = default;
  // For a part of a run, which ends as if it had been cancelled after so many seconds, or when the
  // run is cancelled. It has the clock of the run, which must outlive it, but its own deadline.
  Watch(Watch& run, double seconds) : run_(&run) { set_deadline(seconds); }

  void cancel() { stop_.store(true, std::memory_order_relaxed); }
  bool cancelled() const {
    if (stop_.load(std::memory_order_relaxed)) return true;
    return run_ && (run_->cancelled() || now() >= deadline_.load(std::memory_order_relaxed));
  }

  // Seconds from now; infinity means none.
  void set_deadline(double seconds) {
    std::int64_t when = NEVER;
    if (seconds < 1e9) when = now() + static_cast<std::int64_t>(seconds * 1e9);
    deadline_.store(when, std::memory_order_relaxed);
  }
  // No more time for refinements: the deadline has passed, or the run was cancelled.
  bool expired() const { return cancelled() || now() >= deadline_.load(std::memory_order_relaxed); }

  // Until the deadline; very many if there is none.
  double seconds_left() const {
    return 1e-9 * static_cast<double>(deadline_.load(std::memory_order_relaxed) - now());
  }
  // By the clock, which begins anywhere.
  double seconds() const { return 1e-9 * static_cast<double>(now()); }

  // For tests that must not depend on the machine: from now on time passes only when a kernel looks
  // at the watch, so many seconds each time.
  void simulate_clock(double seconds_a_look) {
    simulated_look_.store(static_cast<std::int64_t>(seconds_a_look * 1e9),
                          std::memory_order_relaxed);
  }
  void look() {
    if (run_) return run_->look();
    const std::int64_t passes = simulated_look_.load(std::memory_order_relaxed);
    if (passes > 0) simulated_.fetch_add(passes, std::memory_order_relaxed);
  }

  // The share done of the kernel at work, or of work announced for many kernels together.
  void report_done(double share) { done_.store(share, std::memory_order_relaxed); }
  void expect_work(std::int64_t work) {
    worked_.store(0, std::memory_order_relaxed);
    expected_.store(work, std::memory_order_relaxed);
  }
  void add_work(std::int64_t work) { worked_.fetch_add(work, std::memory_order_relaxed); }
  double done() const {
    const std::int64_t expected = expected_.load(std::memory_order_relaxed);
    if (expected == 0) return done_.load(std::memory_order_relaxed);
    const auto worked = static_cast<double>(worked_.load(std::memory_order_relaxed));
    return std::min(1.0, worked / static_cast<double>(expected));
  }
  // The lowest SSE of the whole problem so far.
  void report_best(double sse) {
    double known = best();
    while (sse < known && !best_.compare_exchange_weak(known, sse, std::memory_order_relaxed)) {
    }
  }
  double best() const { return best_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();
  std::int64_t now() const {
    if (run_) return run_->now();
    if (simulated_look_.load(std::memory_order_relaxed) > 0)
      return simulated_.load(std::memory_order_relaxed);
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
  Watch* run_ = nullptr;
  std::atomic<std::int64_t> simulated_look_{0};
  std::atomic<std::int64_t> simulated_{0};
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> deadline_{NEVER};
  std::atomic<double> done_{0.0};
  std::atomic<std::int64_t> expected_{0};
  std::atomic<std::int64_t> worked_{0};
  std::atomic<double> best_{std::numeric_limits<double>::infinity()};
};

// Thrown by an initial method that saw the run cancelled, and by a refinement that saw the run
// cancelled or the deadline passed before it had anything to return: its caller then has the best
// so far. The binding turns them into the exceptions of the same names in microagg.errors.
struct Cancelled {};
struct DeadlinePassed {};

// Only refinements heed the deadline; initial methods run to the end.
enum class Deadline { IGNORE, HEED };

// Counts work and looks at the watch about once a millisecond, so that polling costs nothing.
class Poll {
 public:
  // `steps_per_look`: about how many steps take one millisecond.
  Poll(Watch& watch, std::int64_t steps_per_look, Deadline deadline = Deadline::IGNORE)
      : watch_(watch), deadline_(deadline), per_look_(steps_per_look), left_(steps_per_look) {}

  void tick(std::int64_t steps = 1) {
    left_ -= steps;
    if (left_ > 0) return;
    left_ = per_look_;
    watch_.look();
    if (deadline_ == Deadline::HEED && watch_.expired()) throw DeadlinePassed{};
    if (watch_.cancelled()) throw Cancelled{};
  }
  void report_done(double share) { watch_.report_done(share); }

 private:
  Watch& watch_;
  Deadline deadline_;
  std::int64_t per_look_;
  std::int64_t left_;
};

}  // namespace microagg
