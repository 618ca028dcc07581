// SPDX-License-Identifier: BSD-3-Clause
// The superblock and the head of a log have the number of their session in several words each. A
// power failure tears a copy of either anywhere: words of 8 bytes are whole. Each copy is torn at
// each word here, and the pool has its data, and no damage (SB-3, SESSION-3, LOGFILE-3).
#include <algorithm>
#include <array>

#include "core/engine/speculative/log_file/log_candidate.hpp"
#include "core/shared/pool/superblock.hpp"
#include "session/log_file.hpp"

namespace scute::test {
namespace {

// One that a session leaves: the other words are those of before.
struct tear {
  size_t words;
  bool from_the_end;
};

template <typename T>
bytes torn(const T& before, const T& after, tear t) {
  const auto* const old = reinterpret_cast<const unsigned char*>(&before);
  const auto* const made = reinterpret_cast<const unsigned char*>(&after);
  bytes all(old, old + sizeof before);
  const size_t n = t.words * 8, from = t.from_the_end ? sizeof before - n : 0;
  std::copy_n(made + from, n, all.begin() + static_cast<ptrdiff_t>(from));
  return all;
}

template <typename T>
T at(const bytes& all, uint64_t offset) {
  T x;
  std::memcpy(&x, all.data() + offset, sizeof x);
  return x;
}

struct image {
  bytes pool, log;
};

class torn_words : public testing::TestWithParam<bool> {
 protected:
  torn_words() : f(on_disk(), scratch::memory) {
    f.change(1);
    end();
    open();
    f.change(2);
    end();
  }
  // Waits for the other thread that writes the superblock.
  void open() {
    f.open();
    SCUTE_OKAY(scute_recovery_wait(f, nullptr, nullptr));
  }
  void end() {
    if (GetParam())
      f.close();
    else
      f.kill();
  }
  image now() const { return {read_file(f.path), read_file(f.log)}; }
  std::array<uint64_t, 3> superblocks(const image& i) const {
    return {0, 4096, i.pool.size() - 4096};
  }
  static format::log_file_head newest_head_of(const image& i) {
    const auto a = at<format::log_file_head>(i.log, 0), b = at<format::log_file_head>(i.log, 4096);
    return a.number > b.number ? a : b;
  }
  void expect_opened(const image& i) {
    write_file(f.path, i.pool);
    write_file(f.log, i.log);
    f.open();
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(f.in().s.repaired.load(), 0U);
    f.expect_last();
    f.close();
    ASSERT_EQ(f.dir.count(), 2U) << "its log was set aside";
  }
  template <typename T, typename Make>
  void tear_everywhere(const T& before, const T& after, Make&& make) {
    for (size_t words = 1; words < sizeof(T) / 8; ++words)
      for (const bool from_the_end : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << words << " words" << (from_the_end ? " of the end" : ""));
        ASSERT_NO_FATAL_FAILURE(make(torn(before, after, {words, from_the_end})));
      }
  }

  disk_pool f;
};

void put(bytes& into, uint64_t offset, const bytes& what) {
  std::copy(what.begin(), what.end(), into.begin() + static_cast<ptrdiff_t>(offset));
}
template <typename T>
void put_whole(bytes& into, uint64_t offset, const T& x) {
  std::memcpy(into.data() + offset, &x, sizeof x);
}

// The head of a session before its superblock is written (LOGFILE-3).
format::log_file_head coming(format::log_file_head h) {
  h.state = static_cast<uint32_t>(format::log_file_state::coming);
  --h.number;
  h.checksum = core::engine::checksum_of(h);
  return h;
}

// An opening is killed while it writes the superblock. After a kill that is three times: as it was,
// since it may only be in a cache; with the next epoch; and when nothing is left to recover.
TEST_P(torn_words, OfTheSuperblock) {
  const image before = now();
  open();
  const image after = now();
  f.kill();
  image coming_log = before;
  for (const uint64_t copy : {uint64_t{0}, uint64_t{4096}})
    put_whole(coming_log.log, copy, coming(newest_head_of(after)));
  const auto old = at<format::superblock>(before.pool, 0),
             made = at<format::superblock>(after.pool, 0);
  ASSERT_EQ(old.epoch + 1, made.epoch);
  ASSERT_EQ(old.sequence + (GetParam() ? 1 : 3), made.sequence);
  const auto numbered = [&](format::superblock sb, uint64_t sequence) {
    sb.sequence = sequence;
    sb.checksum = pool::superblock_checksum(sb);
    return sb;
  };
  const auto write = [&](image i, const format::superblock& from, const format::superblock& to) {
    for (const uint64_t copy : superblocks(before)) put_whole(i.pool, copy, from);
    for (const uint64_t copy : superblocks(before)) {
      SCOPED_TRACE(testing::Message() << "number " << to.sequence << ", the copy at " << copy);
      ASSERT_NO_FATAL_FAILURE(tear_everywhere(from, to, [&](const bytes& words) {
        put(i.pool, copy, words);
        expect_opened(i);
      }));
      put_whole(i.pool, copy, to);
    }
  };
  if (GetParam()) return write(coming_log, old, made);
  const format::superblock again = numbered(old, old.sequence + 1);
  format::superblock next = made;
  next.resolved_epoch = old.resolved_epoch;
  next = numbered(next, old.sequence + 2);
  ASSERT_NO_FATAL_FAILURE(write(before, old, again));
  ASSERT_NO_FATAL_FAILURE(write(coming_log, again, next));
  write(after, next, made);
}

// An opening is killed while it announces its session, or says that it has begun.
TEST_P(torn_words, OfTheHead) {
  const image before = now();
  open();
  const image after = now();
  f.kill();
  const format::log_file_head old = newest_head_of(before), begun = newest_head_of(after),
                              announced = coming(begun);
  ASSERT_EQ(old.epoch + 1, begun.epoch);
  const auto first = at<format::log_file_head>(before.log, 0).number == old.number ? 4096U : 0U;
  const std::array<uint64_t, 2> order = {first, 4096U - first};
  image i = before;
  for (const bool begins : {false, true}) {
    SCOPED_TRACE(begins ? "it begins" : "it is announced");
    if (begins)
      for (const uint64_t copy : superblocks(before))
        put_whole(i.pool, copy, at<format::superblock>(after.pool, copy));
    for (const uint64_t copy : order) {
      SCOPED_TRACE(testing::Message() << "the copy at " << copy);
      ASSERT_NO_FATAL_FAILURE(tear_everywhere(begins ? announced : old, begins ? begun : announced,
                                              [&](const bytes& words) {
                                                put(i.log, copy, words);
                                                expect_opened(i);
                                              }));
      put_whole(i.log, copy, begins ? begun : announced);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Session, torn_words, testing::Bool(),
                         [](const auto& p) { return p.param ? "closed" : "killed"; });

}  // namespace
}  // namespace scute::test
