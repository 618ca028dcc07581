// SPDX-License-Identifier: BSD-3-Clause
// Engine spec computes the parity of columns after the opening
// (core/engine/speculative/recovery/unresolved.hpp, UNRES-1 to UNRES-5). Any call that comes before
// that is done finds its log, and columns that do not add up cause no report.
#include <gtest/gtest.h>

#include "core/layout/engines.hpp"
#include "scrub/spec_image.hpp"

namespace scute::test {
using namespace core;
namespace {

class spec_unresolved : public testing::Test {
 protected:
  spec_unresolved() {
    f.fill();
    before = f.file();
    f.change(5);
    after = f.file();
  }
  // The log, and of all else words of before and after.
  bytes torn(const bytes& older, const bytes& newer, random_source& random) const {
    bytes image = newer;
    for (uint64_t at = f.in().s.geo.zones_offset; at < f.in().s.geo.zones_end(); at += 8)
      if (!f.in().s.overlaid.lent(at, 8) && random.between(0, 1) == 0)
        std::copy_n(older.begin() + static_cast<long>(at), 8,
                    image.begin() + static_cast<long>(at));
    return image;
  }
  void open_torn(random_source& random) {
    f.load(torn(before, after, random), SCUTE_LAZY_RECOVERY);
    ASSERT_GT(left(), 4u);
  }
  pool::resolver& work() const { return *f.in().s.resolving; }
  uint64_t left() const { return work().done().blocks - work().done().resolved; }
  // One object, wrong nowhere: as it was committed, or refused. True if it is refused.
  bool is_refused(scute_oid oid) {
    const void* at = nullptr;
    const int e = scute_get_verified(f, oid, &at);
    if (e != SCUTE_OK) {
      EXPECT_EQ(e, SCUTE_E_CORRUPT);
      return true;
    }
    const bytes& content = f.objects[oid];
    EXPECT_EQ(0, std::memcmp(at, content.data(), content.size()))
        << "object at " << f.offset_of(oid) << " is wrong, and nothing says so";
    return false;
  }

  spec_image f;
  bytes before, after;
};

// UNRES-1, UNRES-3
TEST_F(spec_unresolved, HalfResolvedThenThePowerFailsAgain) {
  SCUTE_RANDOM(random);
  open_torn(random);
  bytes last = f.file();
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t truncation_point = f.in().engine->log().truncation_point;
    work().scan(1 + left() / 2);
    EXPECT_GT(left(), 0u);
    EXPECT_EQ(f.in().engine->log().truncation_point, truncation_point);
    if (round % 2 == 1) f.change(7, 2000 + 100 * static_cast<uint64_t>(round));
    // The bytes that a commit has checkpointed for want of room are durable.
    const bool checkpointed = f.in().engine->log().truncation_point != truncation_point;
    const bytes image = checkpointed ? f.file() : torn(last, f.file(), random);
    last = image;
    f.load(image, SCUTE_LAZY_RECOVERY);
    f.expect_objects();
    EXPECT_GT(left(), 0u);
    if (HasFailure()) return;
  }
  f.expect_sound_objects();
  EXPECT_EQ(left(), 0u);
}

TEST_F(spec_unresolved, ADrainResolvesAllAndTheLogIsVoid) {
  SCUTE_RANDOM(random);
  open_torn(random);
  const uint64_t truncation_point = f.in().engine->log().truncation_point;
  SCUTE_OKAY(scute_drain(f));
  EXPECT_EQ(left(), 0u);
  EXPECT_GT(f.in().engine->log().truncation_point, truncation_point);
  EXPECT_TRUE(f.live().empty());
  // The pool alone has everything: one row may be noise.
  const pool::geometry g = f.in().s.geo;
  bytes image = f.file();
  for (uint64_t at = g.zones_offset + g.row_size; at < g.zones_offset + 2 * g.row_size; ++at)
    image[at] = static_cast<unsigned char>(random.word());
  f.load(image);
  f.expect_objects();
}

// A clean pool begins with LSNs above all those of its log (UNRES-4).
TEST_F(spec_unresolved, ClosedWhileUnresolved) {
  SCUTE_RANDOM(random);
  open_torn(random);
  f.reopen(SCUTE_LAZY_RECOVERY);
  f.rest();
  EXPECT_FALSE(work().pending());
  f.change(3, 5000);
  f.load(f.file());
  f.expect_sound_objects();
}

TEST_F(spec_unresolved, AnotherEngineWhileUnresolved) {
  SCUTE_RANDOM(random);
  open_torn(random);
  f.in().set_engine(*pool::find_engine(SCUTE_ENGINE_REDO), 0);
  EXPECT_FALSE(work().pending());
  f.expect_sound_objects();
  f.load(f.file());
  f.expect_sound_objects();
}

// UNRES-5: a checkpoint that resolves few makes segments free all the same.
TEST_F(spec_unresolved, ACheckpointResolvesTheOldestFirst) {
  SCUTE_RANDOM(random);
  const uint64_t usual = pool::resolver::at_once();
  pool::resolver::resolve_at_once(2);
  open_torn(random);
  uint64_t rises = 0;
  for (uint64_t n = left(); n > 2; n = left()) {
    const uint64_t truncation_point = f.in().engine->log().truncation_point;
    EXPECT_TRUE(f.in().engine->background());
    EXPECT_EQ(left(), n - 2);
    rises += f.in().engine->log().truncation_point > truncation_point ? 1 : 0;
    if (HasFailure()) break;
  }
  EXPECT_GT(rises, work().done().blocks / 4);
  pool::resolver::resolve_at_once(usual);
  f.expect_sound_objects();
}

// UNRES-2: the damaged cell's column may tell an older version, which a checksum accepts.
TEST_F(spec_unresolved, ADamagedObjectIsNeverAnOlderOne) {
  SCUTE_RANDOM(random);
  open_torn(random);
  uint64_t refused = 0, n = 0;
  for (const auto& [oid, content] : f.objects) {
    if (n++ % 5 != 0) continue;  // of which the log has a record
    f.raw(f.offset_of(oid))[content.size() / 2] ^= std::byte{0x20};
    refused += is_refused(oid) ? 1 : 0;
    if (HasFailure()) return;
  }
  RecordProperty("refused", static_cast<int>(refused));
  for (const auto& [oid, content] : f.objects) is_refused(oid);
}

// PAGE-9
TEST_F(spec_unresolved, ALostPageIsNeverAnOlderOne) {
  SCUTE_RANDOM(random);
  const std::vector<std::byte> bad(4096, std::byte{0x55});
  for (int round = 0; round < 6; ++round) {
    open_torn(random);
    uint64_t page = 0, n = 0, reported = 0;
    for (const auto& [oid, content] : f.objects)
      if (n++ == static_cast<uint64_t>(round) * 25) page = f.offset_of(oid) / 4096 * 4096;
    f.in().s.medium->lose_page(page, bad.data());
    for (const auto& [oid, content] : f.objects) reported += is_refused(oid) ? 1 : 0;
    EXPECT_TRUE(reported == 0 || f.info().lost != 0);
    EXPECT_FALSE(f.in().s.medium->is_revoked(page));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace scute::test
