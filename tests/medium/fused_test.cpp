// SPDX-License-Identifier: BSD-3-Clause
// The fused kernels of log-free commits, every variant that this machine can run: what they write, what
// they leave alone, and what *done says whenever dst is accessed, which a fault in the middle shows.
#include "medium/fused.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "support/seed.hpp"

namespace scute::test {
namespace {

using medium::fused_ops;
using bytes = std::vector<unsigned char>;

constexpr size_t page = 4096;

// All that this machine can run, and what a pool on eADR gets.
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

// Lines in front and behind, so that a kernel that goes too far is seen; begins at a line.
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

class fused : public testing::TestWithParam<const fused_ops*> {
 protected:
  const fused_ops* ops = GetParam();
};

// One call of both kernels with dst, src and delta at these places in their lines.
void both(const fused_ops& ops, size_t n, size_t at_dst, size_t at_src, size_t at_delta) {
  constexpr unsigned char filling = 0xa5;
  field dst(n + 64), src(n + 64), delta(n + 64);
  for (field* f : {&dst, &src, &delta}) f->set(filling);
  const bytes old = noise(n + at_dst, n), fresh = noise(n + at_src + 1000, n);
  bytes change(n);
  for (size_t i = 0; i < n; ++i) change[i] = old[i] ^ fresh[i];
  std::copy(old.begin(), old.end(), dst.at(at_dst));
  std::copy(fresh.begin(), fresh.end(), src.at(at_src));
  volatile uint32_t done = 0;
  ops.encode(dst.at(at_dst), src.at(at_src), delta.at(at_delta), n, &done);
  ASSERT_EQ(done, n);
  ASSERT_TRUE(dst.is(dst.at(at_dst), fresh, n, filling));
  ASSERT_TRUE(src.is(src.at(at_src), fresh, n, filling));
  ASSERT_TRUE(delta.is(delta.at(at_delta), change, n, filling));
  // And back again.
  done = 0;
  ops.fold(dst.at(at_dst), delta.at(at_delta), n, &done);
  ASSERT_EQ(done, n);
  ASSERT_TRUE(dst.is(dst.at(at_dst), old, n, filling));
  ASSERT_TRUE(delta.is(delta.at(at_delta), change, n, filling));
}

TEST(fused_set, PortableIsAlwaysThereAndTheWidestIsChosen) {
  ASSERT_NE(medium::fused_variant(0), nullptr);
  EXPECT_STREQ(medium::fused_variant(0)->name, "portable");
  EXPECT_EQ(medium::fused_variant(medium::fused_variants), nullptr);
  const char* widest = nullptr;
  for (size_t i = 0; i < medium::fused_variants; ++i)
    if (const auto* ops = medium::fused_variant(i)) widest = ops->name;
  EXPECT_STREQ(medium::fused(false).name, widest);
  EXPECT_STREQ(medium::fused(true).name, widest);
  EXPECT_NE(&medium::fused(true), &medium::fused(false));
}

TEST_P(fused, EveryLengthAtEveryPlaceInALine) {
  for (size_t at = 0; at < 64; ++at)
    for (size_t n = 0; n <= 300; ++n) {
      both(*ops, n, at, (at * 7 + n) % 64, (at * 13 + 5 * n) % 64);
      if (HasFatalFailure()) FAIL() << ops->name << ": " << n << " bytes at " << at;
    }
}

TEST_P(fused, AroundTheThresholdOfNonTemporalStores) {
  for (size_t at = 0; at < 64; ++at)
    for (size_t n = medium::nt_threshold - 70; n <= medium::nt_threshold + 70; ++n) {
      both(*ops, n, at, (at + 3 * n) % 64, (11 * at + n) % 64);
      if (HasFatalFailure()) FAIL() << ops->name << ": " << n << " bytes at " << at;
    }
}

TEST_P(fused, UpToAWholeBlock) {
  SCUTE_RANDOM(random);
  for (int i = 0; i < 400; ++i) {
    const size_t n = i == 0 ? page : random.size(page), at = random.between(0, 63);
    both(*ops, n, at, random.between(0, 63), random.between(0, 63));
    if (HasFatalFailure()) FAIL() << ops->name << ": " << n << " bytes at " << at;
  }
}

// ---- faults in the middle ---------------------------------------------------------------------------

// dst crosses into a page that can neither be read nor written at first, then only read.
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

  unsigned char* dst() const { return base_ + page - before_; }
  void close_second_page() {
    faults = 0;
    ::mprotect(base_ + page, page, PROT_NONE);
  }

  volatile uint32_t done = 0;
  // At each fault: *done, and what dst (its readable part) and the delta held.
  struct sight {
    uint32_t done;
    std::array<unsigned char, page> first, second;
    bytes delta;
  };
  std::array<sight, 2> seen{};
  const unsigned char* delta = nullptr;
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
    ::mprotect(c.base_ + page, page, i == 0 ? PROT_READ : PROT_READ | PROT_WRITE);
  }

  static inline crossing* here = nullptr;
  size_t before_;
  unsigned char* base_ = nullptr;
  struct sigaction old_action_{};
};

// `done` bytes have been read and may hold either; the others hold what they held.
void expect_promise(const crossing& c, int fault, size_t before, const bytes& old,
                    const bytes& fresh, const bytes* change) {
  const auto& s = c.seen[static_cast<size_t>(fault)];
  const size_t n = old.size();
  for (size_t i = 0; i < n; ++i) {
    if (i >= before && fault == 0) break;  // could not be looked at
    const unsigned char now =
        i < before ? s.first[page - before + i] : s.second[i - before];
    if (i >= s.done)
      ASSERT_EQ(now, old[i]) << "byte " << i << " is written, done is " << s.done;
    else
      ASSERT_TRUE(now == old[i] || now == fresh[i]) << "byte " << i;
  }
  if (change == nullptr) return;
  for (size_t i = 0; i < s.done; ++i) ASSERT_EQ(s.delta[i], (*change)[i]) << "delta of byte " << i;
}

TEST_P(fused, DoneIsRightWheneverDstIsAccessed) {
  for (const size_t before : {1, 7, 63, 64, 65, 128, 200, 640})
    for (const size_t behind : {1, 8, 63, 64, 100, 700}) {
      SCOPED_TRACE(std::string(ops->name) + ": " + std::to_string(before) + " + " +
                   std::to_string(behind));
      const size_t n = before + behind;
      const bytes old = noise(n, n), fresh = noise(n + 1, n);
      bytes change(n), delta(n);
      for (size_t i = 0; i < n; ++i) change[i] = old[i] ^ fresh[i];
      crossing c(before);
      for (auto& s : c.seen) s.delta.resize(n);
      std::copy(old.begin(), old.end(), c.dst());
      c.delta = delta.data();
      c.close_second_page();
      ops->encode(c.dst(), fresh.data(), delta.data(), n, &c.done);
      // A page that is read and then written faults for each.
      ASSERT_EQ(c.faults, 2);
      ASSERT_LE(c.seen[0].done, before);
      ASSERT_GT(c.seen[1].done, before);
      for (const int fault : {0, 1}) {
        expect_promise(c, fault, before, old, fresh, &change);
        if (HasFatalFailure()) return;
      }
      ASSERT_TRUE(std::equal(fresh.begin(), fresh.end(), c.dst()));

      c.delta = nullptr;
      c.done = 0;
      c.close_second_page();
      ops->fold(c.dst(), change.data(), n, &c.done);
      ASSERT_EQ(c.faults, 2);
      ASSERT_LE(c.seen[0].done, before);
      ASSERT_GT(c.seen[1].done, before);
      for (const int fault : {0, 1}) {
        expect_promise(c, fault, before, fresh, old, nullptr);
        if (HasFatalFailure()) return;
      }
      ASSERT_TRUE(std::equal(old.begin(), old.end(), c.dst()));
    }
}

INSTANTIATE_TEST_SUITE_P(Variant, fused, testing::ValuesIn(kernels()), [](const auto& p) {
  return std::string(p.param->name) + (p.param == &medium::fused(true) ? "_eadr" : "");
});

}  // namespace
}  // namespace scute::test
