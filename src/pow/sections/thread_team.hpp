// SPDX-License-Identifier: BSD-3-Clause
// Threads that divide numbered work among themselves, while a file is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace scute::core::pow {

// Calls work(next) in several threads. next() returns the numbers from 0 on, each once over all
// threads. If one throws, the others end, and this throws the same.
template <typename Work>
void in_threads(uint32_t threads, uint64_t count, const Work& work) {
  std::atomic<uint64_t> number{0};
  std::mutex lock;
  std::exception_ptr thrown;
  const auto run = [&] {
    try {
      work([&] { return number++; });
    } catch (...) {
      const std::lock_guard guard(lock);
      if (!thrown) thrown = std::current_exception();
      number = count;
    }
  };
  std::vector<std::thread> others;
  try {
    others.reserve(threads);
    for (uint32_t i = 1; i < threads && i < count; ++i) others.emplace_back(run);
  } catch (...) {  // NOLINT(bugprone-empty-catch): fewer threads suffice
  }
  run();
  for (std::thread& t : others) t.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace scute::core::pow
