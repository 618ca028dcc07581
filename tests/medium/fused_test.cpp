// SPDX-License-Identifier: BSD-3-Clause
// The fused kernels of log-free commits, every variant that this machine can run: what they write,
// what they leave alone, and what *done says whenever the pool is accessed, which a fault in the
// middle shows.
#include "core/medium/fused.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "support/page.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

using medium::fused_ops;
using bytes = std::vector<unsigned char>;

// All that this machine can run, and what a pool on eADR gets. Not before main(): other tests
// choose the instruction by the environment.
std::vector<const fused_ops*> kernels() {
  std::vector<const fused_ops*> all;
  for (size_t i = 0; i < medium::fused_variants; ++i)
    if (const fused_ops* ops = medium::fused_variant(i)) all.push_back(ops);
  all.push_back(&medium::fused(true));
  return all;
}

bytes noise(uint64_t key, size_t n) {
  bytes b(n);
  uint64_t x = key * 0x9e3779b97f4a7c15u + 1;
  for (auto& c : b) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    c = static_cast<unsigned char>(x >> 32);
  }
  return b;
}

// Lines in front and after, so that a kernel that goes too far is seen; begins at a line.
class field {
 public:
  explicit field(size_t room) : room_(room), raw_(room + 2 * margin + 64) {}
  unsigned char* at(size_t alignment) {
    const auto p = reinterpret_cast<uintptr_t>(raw_.data());
    return raw_.data() + ((p + 63) & ~uintptr_t{63}) - p + margin + alignment;
  }
  void set(unsigned char filling) { std::fill(raw_.begin(), raw_.end(), filling); }
  // True if [p, p + n) is `inside` and all else is `filling`.
  bool is(const unsigned char* p, const bytes& inside, size_t n, unsigned char filling) const {
    for (const unsigned char* q = raw_.data(); q != raw_.data() + raw_.size(); ++q) {
      const bool in = q >= p && q < p + n;
      if (*q != (in ? inside[static_cast<size_t>(q - p)] : filling)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t margin = 128;
  size_t room_;
  bytes raw_;
};

std::byte* raw(unsigned char* p) {
  return reinterpret_cast<std::byte*>(p);
}

// One call of both kernels with dst, src, delta and next at these places in their lines. A cell and
// its parity are whole rows apart, so they have the same place.
void both(const fused_ops& ops, size_t n, size_t at_dst, size_t at_src, size_t at_dram) {
  constexpr unsigned char filling = 0xa5;
  const size_t at_delta = at_dram, at_next = (3 * at_dram + n) % 64;
  const bool apart = (at_src + n) % 2 == 1;  // the reference copy is in DRAM
  field dst(n + 64), src(n + 64), delta(n + 64), next(n + 64), parity(n + 64), verified(n + 64);
  for (field* f : {&dst, &src, &delta, &next, &parity, &verified}) f->set(filling);
  const bytes old = noise(n + at_dst, n), fresh = noise(n + at_src + 1000, n),
              sum = noise(n + 2000, n);
  bytes change(n), new_sum(n);
  for (size_t i = 0; i < n; ++i) {
    change[i] = old[i] ^ fresh[i];
    new_sum[i] = sum[i] ^ change[i];
  }
  const bytes there = apart ? noise(n + 3000, n) : old;
  std::copy(there.begin(), there.end(), dst.at(at_dst));
  std::copy(old.begin(), old.end(), verified.at(at_dram));
  std::copy(fresh.begin(), fresh.end(), src.at(at_src));
  std::copy(sum.begin(), sum.end(), parity.at(at_dst));
  volatile uint32_t done = 0;
  ops.encode(
      {raw(dst.at(at_dst)), raw(apart ? verified.at(at_dram) : dst.at(at_dst)), raw(src.at(at_src)),
       raw(parity.at(at_dst)), raw(delta.at(at_delta)), raw(next.at(at_next)), n},
      &done);
  ASSERT_EQ(done, n);
  ASSERT_TRUE(dst.is(dst.at(at_dst), fresh, n, filling));
  ASSERT_TRUE(src.is(src.at(at_src), fresh, n, filling));
  ASSERT_TRUE(parity.is(parity.at(at_dst), sum, n, filling));
  ASSERT_TRUE(delta.is(delta.at(at_delta), change, n, filling));
  ASSERT_TRUE(next.is(next.at(at_next), new_sum, n, filling));
  done = 0;
  ops.push(parity.at(at_dst), next.at(at_next), n, &done);
  ASSERT_EQ(done, n);
  ASSERT_TRUE(parity.is(parity.at(at_dst), new_sum, n, filling));
  ASSERT_TRUE(next.is(next.at(at_next), new_sum, n, filling));
}

// Which of them is chosen: cpu_level_test.cpp.
TEST(fused, PortableIsAlwaysThere) {
  ASSERT_NE(medium::fused_variant(0), nullptr);
  EXPECT_STREQ(medium::fused_variant(0)->name, "portable");
  EXPECT_EQ(medium::fused_variant(medium::fused_variants), nullptr);
  EXPECT_NE(&medium::fused(true), &medium::fused(false));
}

std::string name_of(const fused_ops* ops) {
  return std::string(ops->name) + (ops == &medium::fused(true) ? ", eADR" : "");
}

TEST(fused, EveryLengthAtEveryPlaceInALine) {
  for (const fused_ops* ops : kernels())
    for (size_t i = 0; i < 64 * 301; ++i) {
      const size_t at = i / 301, n = i % 301;
      both(*ops, n, at, (at * 7 + n) % 64, (at * 13 + 5 * n) % 64);
      if (testing::Test::HasFatalFailure())
        FAIL() << name_of(ops) << ": " << n << " bytes at " << at;
    }
}

TEST(fused, AroundTheThresholdOfNonTemporalStores) {
  for (const fused_ops* ops : kernels())
    for (size_t i = 0; i < 64 * 141; ++i) {
      const size_t at = i / 141, n = medium::nt_threshold - 70 + i % 141;
      both(*ops, n, at, (at + 3 * n) % 64, (11 * at + n) % 64);
      if (testing::Test::HasFatalFailure())
        FAIL() << name_of(ops) << ": " << n << " bytes at " << at;
    }
}

TEST(fused, UpToAWholeBlock) {
  SCUTE_RANDOM(random);
  for (const fused_ops* ops : kernels())
    for (int i = 0; i < 400; ++i) {
      const size_t n = i == 0 ? page : random.size(page), at = random.between(0, 63);
      both(*ops, n, at, random.between(0, 63), random.between(0, 63));
      if (testing::Test::HasFatalFailure())
        FAIL() << name_of(ops) << ": " << n << " bytes at " << at;
    }
}

// ---- faults in the middle -----------------------------------------------------------------------

// A range crosses into a page that can neither be read nor written at first, then only read.
class crossing {
 public:
  explicit crossing(size_t before) : before_(before) {
    base_ = static_cast<unsigned char*>(
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    here = this;
    struct sigaction sa{};
    sa.sa_handler = &crossing::fault;
    ::sigaction(SIGSEGV, &sa, &old_action_);
  }
  ~crossing() {
    ::sigaction(SIGSEGV, &old_action_, nullptr);
    here = nullptr;
    ::munmap(base_, 2 * page);
  }
  crossing(const crossing&) = delete;
  crossing& operator=(const crossing&) = delete;

  unsigned char* at() const { return base_ + page - before_; }
  void close_second_page() {
    faults = 0;
    ::mprotect(base_ + page, page, PROT_NONE);
  }

  volatile uint32_t done = 0;
  // At each fault: *done, and what dst (its readable part) and the delta held.
  struct sight {
    uint32_t done;
    std::array<unsigned char, page> first, second, watched;
    bytes delta;
  };
  std::array<sight, 2> seen{};
  const unsigned char* delta = nullptr;
  const unsigned char* watch = nullptr;  // other bytes to look at, as many as there are deltas
  volatile int faults = 0;

 private:
  static void fault(int) {
    crossing& c = *here;
    const int i = c.faults;
    c.faults = i + 1;
    if (i >= 2) ::_exit(3);
    sight& s = c.seen[static_cast<size_t>(i)];
    s.done = c.done;
    std::copy_n(c.base_, page, s.first.begin());
    if (i == 1) std::copy_n(c.base_ + page, page, s.second.begin());
    if (c.delta != nullptr) std::copy_n(c.delta, s.delta.size(), s.delta.begin());
    if (c.watch != nullptr) std::copy_n(c.watch, s.delta.size(), s.watched.begin());
    ::mprotect(c.base_ + page, page, i == 0 ? PROT_READ : PROT_READ | PROT_WRITE);
  }

  static inline crossing* here = nullptr;
  size_t before_;
  unsigned char* base_ = nullptr;
  struct sigaction old_action_{};
};

// `done` bytes may hold either; the others hold what they held.
void expect_promise(const crossing& c, int fault, size_t before, const bytes& old,
                    const bytes& fresh) {
  const auto& s = c.seen[static_cast<size_t>(fault)];
  for (size_t i = 0; i < old.size(); ++i) {
    if (i >= before && fault == 0) break;  // could not be looked at
    const unsigned char now = i < before ? s.first[page - before + i] : s.second[i - before];
    if (i >= s.done)
      ASSERT_EQ(now, old[i]) << "byte " << i << " is written, done is " << s.done;
    else
      ASSERT_TRUE(now == old[i] || now == fresh[i]) << "byte " << i;
  }
}

// A piece that begins `before` bytes before a lost page, and the rest of which lies in that
// page.
struct lost_page {
  lost_page(const fused_ops* o, size_t b, size_t behind) : ops(o), before(b), n(b + behind), c(b) {
    for (size_t i = 0; i < n; ++i) {
      change[i] = old[i] ^ fresh[i];
      new_sum[i] = sum[i] ^ change[i];
    }
    for (auto& s : c.seen) s.delta.resize(n);
  }
  void in_the_cell_that_is_read() { in_the_cell(nullptr); }
  void in_the_cell_that_is_not_read() { in_the_cell(old.data()); }
  void in_the_cell(const unsigned char* verified);
  void in_the_parity_read();
  void in_the_parity_pushed();

  const fused_ops* ops;
  const size_t before, n;
  const bytes old = noise(n, n), fresh = noise(n + 1, n), sum = noise(n + 2, n);
  bytes change = bytes(n), new_sum = bytes(n), delta = bytes(n), next = bytes(n);
  crossing c;
};

// verified: the bytes that count as being present, in DRAM; null: the cell itself. The page
// faults when it is read and when it is written. A cell that is not read has both faults when it
// is written, and its delta was known by then.
void lost_page::in_the_cell(const unsigned char* verified) {
  field parity(n + 64);
  const auto place = reinterpret_cast<uintptr_t>(c.at()) % 64;
  std::copy(old.begin(), old.end(), c.at());
  std::copy(sum.begin(), sum.end(), parity.at(place));
  c.delta = delta.data();
  c.close_second_page();
  bytes src = fresh;
  const auto* there = reinterpret_cast<const std::byte*>(verified != nullptr ? verified : c.at());
  ops->encode({raw(c.at()), there, raw(src.data()), raw(parity.at(place)), raw(delta.data()),
               raw(next.data()), n},
              &c.done);
  ASSERT_EQ(c.faults, 2);
  if (verified == nullptr)
    EXPECT_LE(c.seen[0].done, before);
  else
    EXPECT_GT(c.seen[0].done, before);
  EXPECT_GT(c.seen[1].done, before);
  for (const int fault : {0, 1}) {
    expect_promise(c, fault, before, old, fresh);
    const auto& s = c.seen[static_cast<size_t>(fault)];
    for (size_t i = 0; i < s.done; ++i) ASSERT_EQ(s.delta[i], change[i]) << "delta of byte " << i;
  }
  EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), c.at()));
  EXPECT_EQ(delta, change);
  EXPECT_EQ(next, new_sum);
}

// The part of dst that is done when the parity turns out to be lost: at most as much as *done
// says.
void lost_page::in_the_parity_read() {
  field dst(n + 64);
  const auto place = reinterpret_cast<uintptr_t>(c.at()) % 64;
  std::copy(old.begin(), old.end(), dst.at(place));
  std::copy(sum.begin(), sum.end(), c.at());
  c.watch = dst.at(place);
  c.delta = delta.data();
  c.close_second_page();
  bytes src = fresh;
  ops->encode({raw(dst.at(place)), raw(dst.at(place)), raw(src.data()), raw(c.at()),
               raw(delta.data()), raw(next.data()), n},
              &c.done);
  ASSERT_EQ(c.faults, 1);  // it is not written
  const auto& s = c.seen[0];
  EXPECT_LE(s.done, before);
  for (size_t i = 0; i < n; ++i) {
    if (i >= s.done)
      ASSERT_EQ(s.watched[i], old[i]) << "byte " << i << " is written, done is " << s.done;
    else
      ASSERT_EQ(s.delta[i], change[i]) << "delta of byte " << i;
  }
  EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), dst.at(place)));
  EXPECT_TRUE(std::equal(sum.begin(), sum.end(), c.at()));
  EXPECT_EQ(delta, change);
  EXPECT_EQ(next, new_sum);
}

void lost_page::in_the_parity_pushed() {
  std::copy(sum.begin(), sum.end(), c.at());
  c.close_second_page();
  ops->push(c.at(), new_sum.data(), n, &c.done);
  ASSERT_GE(c.faults, 1);
  for (int fault = 0; fault < c.faults; ++fault) {
    EXPECT_GT(c.seen[static_cast<size_t>(fault)].done, before);
    expect_promise(c, fault, before, sum, new_sum);
  }
  EXPECT_TRUE(std::equal(new_sum.begin(), new_sum.end(), c.at()));
}

void everywhere(void (lost_page::*test)()) {
  for (const fused_ops* ops : kernels())
    for (const size_t before : {1, 7, 63, 64, 65, 128, 200, 640})
      for (const size_t behind : {1, 8, 63, 64, 100, 700}) {
        lost_page l(ops, before, behind);
        (l.*test)();
        if (testing::Test::HasFailure())
          FAIL() << name_of(ops) << ": " << before << " + " << behind << " bytes";
      }
}

TEST(fused, DoneIsRightWhileTheCellIsEncoded) {
  everywhere(&lost_page::in_the_cell_that_is_read);
  everywhere(&lost_page::in_the_cell_that_is_not_read);
}
TEST(fused, DoneIsRightWhileTheParityIsRead) {
  everywhere(&lost_page::in_the_parity_read);
}
TEST(fused, DoneIsRightWhileTheParityIsPushed) {
  everywhere(&lost_page::in_the_parity_pushed);
}

}  // namespace
}  // namespace scute::test
