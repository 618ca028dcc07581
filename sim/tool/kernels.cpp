// SPDX-License-Identifier: BSD-3-Clause
// scute-sim-kernels NAME|list [--clock]: a loop of a few instructions, to show one number of a machine. On the simulated
// machine between marks, as any program; with --clock on the processor itself, where it prints the ns of a
// round: the lower quartile of 21 times. What `here.machine` says is fitted to these, never to the works that are
// validated. DIR of a work is not needed: the memory is anonymous, in pages of 2 MiB.
#include <immintrin.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "guest/marks.hpp"

namespace scute::sim {
namespace {

constexpr size_t home_bytes = size_t{96} << 20, line = 64, huge = size_t{2} << 20;
constexpr unsigned times_max = 21, coins_max = 1U << 20;

struct scene {
  char* home;                     // persistent memory, cold
  alignas(line) char near[8192];  // in DRAM, warm
  std::vector<uint32_t> order;    // blocks of home, at random
  std::vector<uint8_t> coins, pattern;
  uint64_t from = 0;  // what was used of `order`
};
scene* the;
uint64_t kept;  // results, so that they are computed

// A place that was not used before, in blocks of that size.
char* fresh(size_t block) {
  const uint64_t at = the->from++;
  // Small ones somewhere in their page.
  return the->home + size_t{the->order[at % the->order.size()]} * 4096 +
         at * 2654435761 % (4096 / block) * block;
}

void flush(const void* at) {
  asm volatile("clwb (%0)" ::"r"(at) : "memory");
}
void fence() {
  asm volatile("sfence" ::: "memory");
}
void compute(unsigned rounds) {
  asm volatile("1: add $1, %%rax; add $1, %%rax; add $1, %%rax; dec %0; jnz 1b"
               : "+r"(rounds)::"rax", "cc");
}

void adds(unsigned n) {
  for (unsigned i = 0; i < n; ++i) asm volatile(".rept 20\n add $1, %%rax\n .endr" ::: "rax", "cc");
}

// ---- branches --------------------------------------------------------------------------------------
void branch(const std::vector<uint8_t>& by, unsigned n, unsigned period) {
  uint64_t sum = 0;
  const uint8_t* const p = by.data();
  unsigned at = static_cast<unsigned>(the->from);
  for (unsigned i = 0; i < n; ++i) {
    asm volatile("testb $1, (%1)\n jz 1f\n add $3, %0\n 1:" : "+r"(sum) : "r"(p + at) : "cc");
    at = at + 1 == period ? 0 : at + 1;
  }
  the->from = at;
  kept += sum;
}
void branches_random(unsigned n) {
  branch(the->coins, n, coins_max);
}
void branches_pattern(unsigned n) {
  branch(the->coins, n, 24);
}
void branches_loop(unsigned n) {
  for (unsigned i = 0; i < n; ++i) compute(9);
}
uint64_t one(uint64_t x) {
  return x + 1;
}
uint64_t two(uint64_t x) {
  return x ^ 2;
}
uint64_t three(uint64_t x) {
  return x * 3;
}
void calls_widely(unsigned n) {
  static uint64_t (*const volatile all[])(uint64_t) = {one, two, three};
  uint64_t x = 1;
  for (unsigned i = 0; i < n; ++i) x = all[the->pattern[i % 12]](x);
  kept += x;
}

// ---- stores that are loaded ------------------------------------------------------------------------
void forward(unsigned n) {
  uint64_t* const p = reinterpret_cast<uint64_t*>(the->near);
  for (unsigned i = 0; i < n; ++i) asm volatile("addq $1, (%0)" ::"r"(p) : "memory", "cc");
}
void forward_renamed(unsigned n) {
  uint64_t* p = reinterpret_cast<uint64_t*>(the->near);
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    // The address of the load is known late, and is no register of the store's.
    asm volatile("mov %0, (%1)\n lea 8(%1), %%rax\n mov -8(%%rax), %0\n add $1, %0"
                 : "+r"(x)
                 : "r"(p)
                 : "rax", "memory", "cc");
  }
  kept += x;
}
void forward_cold(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    // The next address hangs on what was loaded.
    char* const p = fresh(line) + x;
    asm volatile("mov %0, (%1)\n mov (%1), %0\n .rept 100\n add $1, %0\n .endr\n and $0, %0"
                 : "+r"(x)
                 : "r"(p)
                 : "memory", "cc");
  }
  kept += x;
}

// ---- reads -----------------------------------------------------------------------------------------
template <size_t Bytes>
void chase(unsigned n) {
  // A ring through all lines, made beforehand by prepare_chase().
  uint64_t* p = reinterpret_cast<uint64_t*>(the->from != 0 ? the->from
                                                           : reinterpret_cast<uint64_t>(the->home));
  for (unsigned i = 0; i < n; ++i)
    p = reinterpret_cast<uint64_t*>(*static_cast<volatile uint64_t*>(p));
  the->from = reinterpret_cast<uint64_t>(p);
}
void prepare_chase(size_t bytes) {
  const size_t lines = bytes / line;
  std::vector<uint32_t> ring(lines);
  std::iota(ring.begin(), ring.end(), 0);
  std::shuffle(ring.begin() + 1, ring.end(), std::mt19937_64(11));
  for (size_t i = 0; i < lines; ++i)
    *reinterpret_cast<uint64_t*>(the->home + ring[i] * line) =
        reinterpret_cast<uint64_t>(the->home + ring[(i + 1) % lines] * line);
}
void misses(unsigned n) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += *reinterpret_cast<volatile uint64_t*>(fresh(line));
  kept += sum;
}
template <size_t Bytes>
void read_block(unsigned n) {
  __m256i sum = _mm256_setzero_si256();
  for (unsigned i = 0; i < n; ++i) {
    const char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32)
      sum = _mm256_add_epi64(sum, _mm256_load_si256(reinterpret_cast<const __m256i*>(p + at)));
    asm volatile("lfence" ::: "memory");
  }
  kept += static_cast<uint64_t>(_mm256_extract_epi64(sum, 0));
}

// ---- writes ----------------------------------------------------------------------------------------
template <size_t Bytes, bool Stream, bool Flush>
void write_block(unsigned n) {
  const __m256i v = _mm256_set1_epi8(7);
  for (unsigned i = 0; i < n; ++i) {
    char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32) {
      if constexpr (Stream)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p + at), v);
      else
        _mm256_store_si256(reinterpret_cast<__m256i*>(p + at), v);
    }
    if constexpr (Flush)
      for (size_t at = 0; at < Bytes; at += line) flush(p + at);
    fence();
    asm volatile("mfence" ::: "memory");
  }
}
// As an overwrite with an undo log does it: the old content into the log, then the new one over it.
template <size_t Bytes, bool Stream>
void copy_and_write(unsigned n) {
  char* const log = the->home;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32) {
      const __m256i old = _mm256_load_si256(reinterpret_cast<const __m256i*>(p + at));
      if constexpr (Stream)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(log + at), old);
      else
        _mm256_store_si256(reinterpret_cast<__m256i*>(log + at), old);
    }
    if constexpr (!Stream)
      for (size_t at = 0; at < Bytes; at += line) flush(log + at);
    fence();
    const __m256i v = _mm256_set1_epi8(static_cast<char>(i));
    for (size_t at = 0; at < Bytes; at += 32)
      _mm256_store_si256(reinterpret_cast<__m256i*>(p + at), v);
    for (size_t at = 0; at < Bytes; at += line) flush(p + at);
    fence();
  }
}
void flush_fence(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
  }
}
void flush_fence_compute(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    compute(150);
  }
}
void flush_fence_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
void flush_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
void flush_then_load(unsigned n) {
  // The line again after its write-back.
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    kept += *static_cast<volatile uint64_t*>(static_cast<void*>(the->home));
    compute(150);
  }
}
// Each time another line of a few that are in the caches.
char* other_line(unsigned i) {
  return the->home + i % 64 * line;
}
void flush_others(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(other_line(i)) = static_cast<char>(i);
    flush(other_line(i));
    fence();
  }
}
void flush_others_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(other_line(i)) = static_cast<char>(i);
    flush(other_line(i));
    fence();
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
// Four lines at once.
void flush_four(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned k = 0; k < 4; ++k)
      *static_cast<volatile char*>(other_line(4 * i + k)) = static_cast<char>(i);
    for (unsigned k = 0; k < 4; ++k) flush(other_line(4 * i + k));
    fence();
  }
}
// Long after: is a line that was written back still in the caches?
void flush_later_load(unsigned n) {
  uint64_t zero = 0;
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    compute(1500);
    asm volatile("lfence\n mov (%1), %0\n and $0, %0\n lfence"
                 : "=r"(zero)
                 : "r"(the->home)
                 : "memory", "cc");
    compute(150);
  }
}
void later_load(unsigned n) {
  uint64_t zero = 0;
  for (unsigned i = 0; i < n; ++i) {
    compute(1500);
    asm volatile("lfence\n mov (%1), %0\n and $0, %0\n lfence"
                 : "=r"(zero)
                 : "r"(the->home)
                 : "memory", "cc");
    compute(150);
  }
}
void stream_fence(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), _mm256_set1_epi8(1));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p + 32), _mm256_set1_epi8(1));
    fence();
  }
}
// A line of non-temporal stores, and a load of it that the next one hangs on.
template <bool Fence, size_t Bytes>
void stream_load(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i) + x;
    for (size_t at = 0; at < Bytes; at += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(p + at), _mm256_set1_epi8(1));
    if constexpr (Fence) fence();
    asm volatile("mov (%1), %0\n and $0, %0" : "=r"(x) : "r"(p) : "memory", "cc");
  }
  kept += x;
}
// Two small stores behind a fence, and a load of both.
void blocked_load(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i) + x;
    *static_cast<volatile char*>(p) = static_cast<char>(i);
    flush(p);
    fence();
    asm volatile(
        "movq %1, (%2)\n movq %1, 8(%2)\n movdqu (%2), %%xmm0\n movq %%xmm0, %0\n and $0, %0"
        : "=r"(x)
        : "r"(x), "r"(the->near)
        : "memory", "cc", "xmm0");
  }
  kept += x;
}
void lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i)
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
}
void computes(unsigned n) {
  for (unsigned i = 0; i < n; ++i) compute(150);
}

// ---- code ------------------------------------------------------------------------------------------
char* code;
template <size_t Bytes>
void fetch_code(unsigned n) {
  for (unsigned i = 0; i < n; ++i) reinterpret_cast<void (*)()>(code)();
}
// Blocks of a line each, in a random order, each of ten additions and a jump to the next.
void prepare_code(size_t bytes) {
  code = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const size_t blocks = bytes / line;
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(5));
  for (size_t i = 0; i < blocks; ++i) {
    char* at = code + size_t{order[i]} * line;
    for (int k = 0; k < 10; ++k) {
      const unsigned char add[] = {0x48, 0x83, 0xc0, 1};  // add $1, %rax
      std::memcpy(at, add, 4);
      at += 4;
    }
    if (i + 1 == blocks) {
      *at = static_cast<char>(0xc3);
      break;
    }
    const char* const to = code + size_t{order[i + 1]} * line;
    *at = static_cast<char>(0xe9);
    const auto by = static_cast<int32_t>(to - (at + 5));
    std::memcpy(at + 1, &by, 4);
  }
}

// ---- ordinary code ---------------------------------------------------------------------------------
void prints(unsigned n) {
  char text[80];
  for (unsigned i = 0; i < n; ++i)
    kept += static_cast<uint64_t>(
        std::snprintf(text, sizeof text, "%u %s %lx", i * 7919, "word", kept));
}
void allocates(unsigned n) {
  static void* held[64];
  for (unsigned i = 0; i < n; ++i) {
    void*& at = held[the->coins[i] * 32 + i * 7 % 32];
    std::free(at);
    at = std::malloc(24 + i % 9 * 40);
  }
}
void sorts(unsigned n) {
  std::array<uint64_t, 256> all;
  for (unsigned i = 0; i < n; ++i) {
    uint64_t x = i + 1;
    for (uint64_t& each : all) each = x = x * 6364136223846793005 + 1442695040888963407;
    std::ranges::sort(all);
    kept += all[3];
  }
}
void trees(unsigned n) {
  std::map<uint64_t, uint64_t> tree;
  uint64_t x = 1;
  for (unsigned i = 0; i < n; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    tree[x >> 50] += i;
  }
  kept += tree.size();
}
void strings(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    std::string s = "a string that does not fit where it lies";
    s += static_cast<char>('a' + i % 26);
    kept += std::hash<std::string>()(s);
  }
}

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
  for (const uint8_t each : {0, 1, 0, 2, 1, 0, 2, 2, 0, 1, 1, 2}) the->pattern.push_back(each);
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
