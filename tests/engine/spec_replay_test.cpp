// SPDX-License-Identifier: BSD-3-Clause
// Recovery from records of engine spec (SPEC-4), compared with a model of bytes. Some of the logs
// are such as no program writes on purpose.
#include <gtest/gtest.h>

#include <ctime>
#include <optional>

#include "core/engine/speculative/commit_log.hpp"
#include "core/engine/speculative/log_file/log_in_pool.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

using core::format::record_kind;

// A pool that was killed, and whose log has what a test has put there.
class spec_replay : public testing::Test {
 protected:
  void make(uint64_t size, uint64_t cap, scute_protection level) {
    scute_options o = options(size, {level, SCUTE_ENGINE_SPEC});
    o.lanes = 2;
    o.log_cap = cap;
    f.create(o);
    oid = f.alloc(bytes(room, 0));
    SCUTE_OKAY(scute_drain(f.pool));
    f.in().idle.stop();
    pool::state& s = f.in().s;
    list = *engine::read_list(s);
    location.emplace(s, *f.in().heap);
    sequence = 1'000'000;
    log.emplace(s, *location, list, sequence, std::vector<uint64_t>());
  }
  // False if there is no room for one more frame.
  bool append(const std::vector<engine::log_range>& records) {
    const engine::commit_log::need n = log->need_of(0, records);
    if (!log->make_room(0, n)) return false;
    medium::writer w(*f.in().s.medium);
    log->append(w, 0, records, engine::frame_final, ++sequence, 1);
    log->fence(w, 0, fence_site::spec_decide);
    return true;
  }
  uint64_t payload() const { return f.offset_of(oid); }
  void kill() {
    log.reset();
    location.reset();
    f.in().abandon();
    f.close();
  }

  static constexpr uint64_t room = 64 * kib;
  pool_file f;
  scute_oid oid = 0;
  engine::segment_list list;
  std::optional<engine::log_in_pool> location;
  std::optional<engine::commit_log> log;
  uint64_t sequence = 0;
};

// Records of bytes, and placed ones, in any order and of any lengths, several in one frame.
TEST_F(spec_replay, TheNewestRecordOfAByteCounts) {
  SCUTE_RANDOM(random);
  make(32 * mib, 4 * mib, SCUTE_PROTECT_NONE);
  bytes now(room, 0);
  std::byte* const medium = f.raw(payload());
  for (unsigned k = 0; k < 400; ++k) {
    std::vector<bytes> kept;
    std::vector<engine::log_range> records;
    const bool placed = random.one_in(3);
    for (uint64_t n = random.between(1, 4); n != 0; --n) {
      const uint64_t from = random.between(0, room / 8 - 1) * 8;
      const uint64_t length = std::min(room - from, random.between(1, 512) * 8);
      if (placed) {
        records.push_back({payload() + from, nullptr, length, record_kind::placed});
      } else {
        kept.push_back(pattern(k * 8 + n, length));
        records.push_back({payload() + from, nullptr, length, record_kind::data});
      }
    }
    size_t next = 0;
    for (engine::log_range& r : records)
      if (r.kind == record_kind::data)
        r.bytes = reinterpret_cast<const std::byte*>(kept[next++].data());
    if (!append(records)) break;
    // Of two that have the same byte the last one counts.
    for (const engine::log_range& r : records) {
      const uint64_t at = r.offset - payload();
      const bytes fresh = r.bytes != nullptr
                              ? bytes(reinterpret_cast<const unsigned char*>(r.bytes),
                                      reinterpret_cast<const unsigned char*>(r.bytes) + r.length)
                              : pattern(k * 8 + 7, r.length);
      std::copy(fresh.begin(), fresh.end(), now.begin() + static_cast<long>(at));
    }
    // A placed record is on the medium, and a record with bytes may be.
    for (const engine::log_range& r : records)
      if (r.bytes == nullptr || random.one_in(2))
        std::memcpy(medium + (r.offset - payload()), now.data() + (r.offset - payload()), r.length);
  }
  kill();
  f.open();
  EXPECT_EQ(f.read(oid), now);
}

// A log full of small placed records next to small records of bytes, and of placed ones that are
// as long as a zone. Recovery used to look through it once for each record.
TEST_F(spec_replay, TakesNoTimeForEachPairOfRecords) {
  make(64 * mib, 16 * mib, SCUTE_PROTECT_MLPC);
  const bytes content = pattern(1, 8);
  const auto* const at = reinterpret_cast<const std::byte*>(content.data());
  const pool::state& s = f.in().s;
  std::vector<engine::log_range> frame;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t where = payload() + i % (room / 64) * 64;
    frame.push_back({where, at, 8, record_kind::data});
    frame.push_back({where + 16, nullptr, 8, record_kind::placed});
    if (i % 50 == 0)
      frame.push_back({s.geo.zone_offset(0), nullptr, s.geo.row_size, record_kind::placed});
  }
  unsigned frames = 0;
  while (append(frame)) ++frames;
  ASSERT_GE(frames, 50U);
  kill();
  // Of this process's own, whatever else the machine does.
  const std::clock_t before = std::clock();
  SCUTE_OKAY(f.try_open());
  EXPECT_LT(std::clock() - before, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace scute::test
