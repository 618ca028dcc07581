// SPDX-License-Identifier: BSD-3-Clause
// scute-sim-kernels NAME|list [--clock]: a loop of a few
// instructions, to show one number of a machine. On the simulated machine between marks, as any
// program; with --clock on the processor itself, where it prints the ns of a round: the lower
// quartile of 21 times. The numbers in `here.machine` are fitted to these, never to the workloads
// that are validated. The memory is anonymous, in pages of 2 MiB.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "guest/marks.hpp"
#include "tool/kernels_of_core.hpp"
#include "tool/kernels_of_memory.hpp"

namespace scute::sim {
namespace {

struct kernel {
  const char* name;
  void (*run)(unsigned);
  unsigned rounds;
  void (*prepare)(size_t) = nullptr;
  size_t bytes = 0;
};
const kernel kernels[] = {
    {"adds", adds, 2000},
    {"computes", computes, 500},
    {"branches-random", branches_random, 8000},
    {"branches-pattern", branches_pattern, 8000},
    {"branches-loop", branches_loop, 2000},
    {"calls-widely", calls_widely, 4000},
    {"forward", forward, 4000},
    {"forward-renamed", forward_renamed, 4000},
    {"forward-cold", forward_cold, 200},
    {"chase-8k", chase<0>, 4000, prepare_chase, size_t{8} << 10},
    {"chase-256k", chase<0>, 8000, prepare_chase, size_t{256} << 10},
    {"chase-4m", chase<0>, 70000, prepare_chase, size_t{4} << 20},
    {"chase-96m", chase<0>, 4000, prepare_chase, size_t{96} << 20},
    {"misses", misses, 500},
    {"read-64", read_block<64>, 200},
    {"read-128", read_block<128>, 200},
    {"read-256", read_block<256>, 200},
    {"read-1024", read_block<1024>, 200},
    {"read-4096", read_block<4096>, 200},
    {"write-256", write_block<256, false, false>, 200},
    {"write-1024", write_block<1024, false, false>, 200},
    {"write-4096", write_block<4096, false, false>, 200},
    {"flush-256", write_block<256, false, true>, 200},
    {"flush-1024", write_block<1024, false, true>, 200},
    {"flush-4096", write_block<4096, false, true>, 200},
    {"stream-256", write_block<256, true, false>, 200},
    {"stream-1024", write_block<1024, true, false>, 200},
    {"stream-4096", write_block<4096, true, false>, 200},
    {"undo-1024", copy_and_write<1024, false>, 200},
    {"undo-4096", copy_and_write<4096, false>, 200},
    {"undo-stream-1024", copy_and_write<1024, true>, 200},
    {"undo-stream-4096", copy_and_write<4096, true>, 200},
    {"flush-fence", flush_fence, 500},
    {"flush-fence-compute", flush_fence_compute, 500},
    {"flush-fence-lock", flush_fence_lock, 500},
    {"flush-lock", flush_lock, 500},
    {"flush-then-load", flush_then_load, 500},
    {"flush-others", flush_others, 500},
    {"flush-others-lock", flush_others_lock, 500},
    {"flush-four", flush_four, 500},
    {"flush-later-load", flush_later_load, 200},
    {"later-load", later_load, 200},
    {"stream-fence", stream_fence, 500},
    {"stream-load", stream_load<false, 64>, 500},
    {"stream-load-half", stream_load<false, 32>, 500},
    {"stream-fence-load", stream_load<true, 64>, 500},
    {"flush-blocked-load", blocked_load, 500},
    {"lock", lock, 4000},
    {"prints", prints, 2000},
    {"allocates", allocates, 4000},
    {"sorts", sorts, 50},
    {"trees", trees, 4000},
    {"strings", strings, 4000},
    {"code-16k", fetch_code<0>, 40, prepare_code, size_t{16} << 10},
    {"code-128k", fetch_code<0>, 10, prepare_code, size_t{128} << 10},
    {"code-512k", fetch_code<0>, 4, prepare_code, size_t{512} << 10},
};

double thread_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

int play(const kernel& k, bool clock) {
  open_board();
  the = new scene{};
  char* const mapped = static_cast<char*>(::mmap(nullptr, home_bytes + huge, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mapped == MAP_FAILED) return 1;
  the->home = mapped + (huge - reinterpret_cast<uint64_t>(mapped) % huge) % huge;
  ::madvise(the->home, home_bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < home_bytes; at += 4096) the->home[at] = 1;
  std::mt19937_64 random(3);
  the->order.resize(home_bytes / 4096 - 16);
  std::iota(the->order.begin(), the->order.end(), 16);
  std::shuffle(the->order.begin(), the->order.end(), random);
  the->order.resize(home_bytes / 4096, 16);
  for (size_t i = 0; i < coins_max; ++i) the->coins.push_back(random() & 1);
  the->pattern = {0, 1, 0, 2, 1, 0, 2, 2, 0, 1, 1, 2};
  if (k.prepare != nullptr) k.prepare(k.bytes);
  say(mark::persistent, reinterpret_cast<uint64_t>(the->home), home_bytes);
  if (clock) {
    std::vector<char> other(size_t{96} << 20);
    for (size_t i = 0; i < other.size(); i += line) *static_cast<volatile char*>(&other[i]) = 1;
  }
  std::vector<double> ns;
  say(mark::start);
  k.run(k.rounds);  // warms
  for (unsigned t = 0; t < (clock ? times_max : 1); ++t) {
    const double from = thread_ns();
    say(mark::measure);
    k.run(k.rounds);
    say(mark::over);
    ns.push_back((thread_ns() - from) / k.rounds);
  }
  say(mark::stop);
  std::ranges::sort(ns);
  if (clock)
    std::printf("%.2f\n", ns[ns.size() / 4]);
  else
    std::printf("%u\n", k.rounds);
  return kept == 0x5eed5eed ? 1 : 0;
}

}  // namespace
}  // namespace scute::sim

int main(int n, char** arguments) {
  using namespace scute::sim;
  if (n >= 2 && std::string_view(arguments[1]) == "list") {
    for (const kernel& k : kernels) std::puts(k.name);
    return 0;
  }
  for (const kernel& k : kernels)
    if (n >= 2 && std::string_view(arguments[1]) == k.name)
      return play(k, n >= 3 && std::string_view(arguments[2]) == "--clock");
  std::fputs("usage: scute-sim-kernels NAME|list [--clock]\n", stderr);
  return 2;
}
