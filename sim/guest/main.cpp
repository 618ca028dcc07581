// SPDX-License-Identifier: BSD-3-Clause
// The program on the simulated machine: one work on one system. It is an ordinary program, too:
// without a front end it runs as fast as the machine is.
//
//   scute-sim-guest WORK SYSTEM DIR [--threads N] [--scale tiny|quick] [--seed N] [--clock]
//
//   WORK    stamp-APPLICATION, overwrite-BYTES, insert-MAP, ycsb-LETTER
//   SYSTEM  marked (the machine's scheme), volatile, libpmemobj, or a configuration of Scute:
//           redo-none ...
//   --clock for runs without a front end: caches are cold where the simulated ones would be. The
//           program prints in ns the processor's time for the work, and for the work put off
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "guest/fibers.hpp"
#include "guest/marks.hpp"
#include "guest/workloads.hpp"

namespace scute::sim {
namespace {

// Of the processor's time that this thread has had: others may be on the machine.
long long thread_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<long long>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// More than any cache has, each line changed.
void cool_caches() {
  std::vector<char> other(size_t{96} << 20);
  for (size_t i = 0; i < other.size(); i += 64) {
    *static_cast<volatile char*>(&other[i]) = 1;
  }
}

// Pages that the kernel had to bring: its time, which no model has.
long faults() {
  rusage u{};
  ::getrusage(RUSAGE_THREAD, &u);
  return u.ru_minflt + u.ru_majflt;
}

int play(const guest_task& task, bool clock) {
  open_board();
  const std::unique_ptr<guest_workload> work = make_workload(task);
  announce_persistent(task);
  if (clock) cool_caches();
  say(mark::start);
  work->warm();
  work->drain();
  say(mark::pause);
  bench::costs before, after;
  const bool counts = work->count(before);
  say(mark::resume);
  const auto now = [&] { return clock ? thread_ns() : 0; };
  const long brought = clock ? faults() : 0;
  const long long from = now();
  say(mark::measure);
  run_fibers(task.threads, [&](unsigned t) { work->run(t); });
  say(mark::over);
  const long long over = now();
  work->drain();
  say(mark::stop);
  if (clock) {
    const long long end = now();
    std::printf("{\"ns\": %lld, \"deferred_ns\": %lld, \"faults\": %ld}\n", over - from, end - over,
                faults() - brought);
  }
  if (counts && work->count(after))
    say(mark::counted, static_cast<uint64_t>(after.fences - before.fences),
        static_cast<uint64_t>(after.lines - before.lines));
  say(mark::footprint, footprint_of(task));
  const std::string wrong = work->check();
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "scute-sim-guest: %s on %s: %s\n", task.work.c_str(), task.system.c_str(),
               wrong.c_str());
  return 1;
}

int main_of(int n, char** arguments) {
  guest_task task;
  bool clock = false;
  std::vector<std::string> plain;
  for (int i = 1; i < n; ++i) {
    const std::string_view a = arguments[i];
    if (!a.starts_with("--")) {
      plain.emplace_back(a);
      continue;
    }
    if (a == "--clock") {
      clock = true;
      continue;
    }
    if (++i >= n) throw std::invalid_argument(std::string(a) + " needs a value");
    if (a == "--threads")
      task.threads = static_cast<unsigned>(std::stoul(arguments[i]));
    else if (a == "--seed")
      task.seed = std::stoull(arguments[i]);
    else if (a == "--scale")
      task.scale = arguments[i];
    else
      throw std::invalid_argument("no option " + std::string(a));
  }
  if (plain.size() != 3) throw std::invalid_argument("WORK SYSTEM DIR are needed");
  task.work = plain[0];
  task.system = plain[1];
  task.dir = plain[2];
  return play(task, clock);
}

}  // namespace
}  // namespace scute::sim

int main(int n, char** arguments) {
  try {
    return scute::sim::main_of(n, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scute-sim-guest: %s\n", e.what());
    return 2;
  }
}
