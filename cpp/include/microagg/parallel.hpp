// Work in pieces on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace microagg {

// Calls work(next) in each thread; next() is a piece nobody has yet, and `pieces` or more when
// there is none. What a thread throws comes out of here, once all have ended.
template <class Work>
void in_parallel(std::int64_t pieces, std::int64_t threads, Work work) {
  threads = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(pieces, 1));
  std::atomic<std::int64_t> taken{0};
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  const auto run = [&](std::int64_t thread) {
    try {
      work([&taken] { return taken.fetch_add(1, std::memory_order_relaxed); });
    } catch (...) {
      failures[thread] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (std::int64_t thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
  }
  run(0);
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace microagg
