// SPDX-License-Identifier: BSD-3-Clause
// Lanes as long as the format allows, with a plausible head in every line: reading one takes time
// in proportion to its length (AREA-1, CHAIN-2 in core/engine/common/log_reader.hpp). Were every
// body summed up by itself, each of these tests would sum up terabytes, and run into the time limit
// of its program.
#include <gtest/gtest.h>

#include "codec/checksum/crc32c.hpp"
#include "core/engine/common/lane_log.hpp"
#include "core/engine/common/log_reader.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
using namespace core;
namespace {

// The reader looks at a lane of 64 MiB; zones and all lie in it, and are never looked at.
class hostile_lane : public testing::Test {
 protected:
  static constexpr uint64_t lane_size = 64 * mib;
  static constexpr uint64_t ring_end = format::lane_undo_offset(lane_size);

  void SetUp() override {
    scute_options o = options(96 * mib, SCUTE_PROTECT_NONE);
    o.lanes = 1;
    f.create(o);
    proper_ = s().geo.lane_size;
    s().geo.lane_size = lane_size;
    at_ = s().geo.lane_offset(0, 0);
  }
  void TearDown() override {
    s().geo.lane_size = proper_;
    f.in().abandon();
  }

  pool::state& s() { return f.in().s; }
  std::byte* line(uint64_t position) { return s().at(at_ + position); }

  format::log_entry head(uint64_t position, uint64_t body_size) {
    format::log_entry e{};
    e.magic = format::entry_magic;
    e.epoch = s().sb.epoch;
    e.transaction = 1 + position / 64;
    e.sequence = 1 + position / 64;
    e.flags = format::entry_final;
    e.body_size = body_size;
    e.pool_salt = s().salt;
    e.position = position;
    return e;
  }
  void put(const format::log_entry& e) { std::memcpy(line(e.position), &e, sizeof e); }

  // A valid entry in each line from `first` on, each of which has all that follow in its body. From
  // the last to the first, so that each sum follows from the one before.
  void nest(uint64_t first, uint32_t flags) {
    uint32_t following = 0;  // the sum of everything after the head
    for (uint64_t at = ring_end - 64; at >= first; at -= 64) {
      format::log_entry e = head(at, ring_end - 64 - at);
      e.flags = flags;
      constexpr size_t after = offsetof(format::log_entry, checksum) + 4;
      const uint32_t own = codec::crc32c(0, reinterpret_cast<std::byte*>(&e) + after, 64 - after);
      e.checksum = codec::crc32c_shift(own, e.body_size) ^ following;
      put(e);
      following = codec::crc32c_shift(codec::crc32c(0, &e, sizeof e), e.body_size) ^ following;
    }
  }

  pool_file f;

 private:
  uint64_t proper_ = 0, at_ = 0;
};

TEST_F(hostile_lane, heads_that_vouch_for_all_that_follows_but_have_wrong_sums) {
  for (uint64_t at = 64; at < ring_end; at += 64) put(head(at, ring_end - 64 - at));
  EXPECT_FALSE(engine::log_reader(s()).read_lane(0).last.has_value());
  // One of them is right, and it is found among the others: both ways to sum agree.
  for (const uint64_t at : {uint64_t{64}, 5 * mib, 40 * mib, ring_end - 4096}) {
    format::log_entry e = head(at, 1000 + at % 977);
    put(e);
    e.checksum = log::entry_checksum(line(at), sizeof e + e.body_size);
    put(e);
    const auto log = engine::log_reader(s()).read_lane(0);
    ASSERT_TRUE(log.last.has_value()) << at;
    EXPECT_EQ(log.last->head.position, at);
    EXPECT_EQ(log.last->records.size(), e.body_size);
    EXPECT_EQ(std::memcmp(log.last->records.data(), line(at) + 64, e.body_size), 0);
    put(head(at, ring_end - 64 - at));
  }
}

TEST_F(hostile_lane, entries_in_the_bodies_of_entries) {
  nest(64, format::entry_final);
  for (const uint64_t at : {ring_end - 64, ring_end - 6400, 47 * mib}) {
    format::log_entry e;
    std::memcpy(&e, line(at), sizeof e);
    ASSERT_EQ(e.checksum, log::entry_checksum(line(at), sizeof e + e.body_size));
  }
  const auto log = engine::log_reader(s()).read_lane(0);
  ASSERT_TRUE(log.last.has_value());
  EXPECT_EQ(log.last->head.position, ring_end - 64);
}

// None of these has a body of the size that a chain has, so none counts.
TEST_F(hostile_lane, chained_entries_in_the_bodies_of_entries) {
  nest(64 * mib / 64, format::entry_final | format::entry_chained);
  EXPECT_FALSE(engine::log_reader(s()).read_lane(0).last.has_value());
}

// Each entry names the same long chain, which is valid, and which is read again for each of
// them.
TEST_F(hostile_lane, many_entries_that_name_one_chain) {
  pool::geometry& g = s().geo;
  constexpr uint64_t links = 64, entries = 40000;
  const uint64_t room = g.chunk_size - sizeof(format::log_link);
  // After the ring: the lane reaches into the zones.
  const uint64_t first = (ring_end + mib) / g.chunk_size;
  const auto chunk = [&](uint64_t i) {
    return g.chunk_offset(0, static_cast<uint32_t>(first + i));
  };
  ASSERT_GT(chunk(0), s().geo.lane_offset(0, 0) + ring_end);
  for (uint64_t i = 0; i < links; ++i) {
    format::log_link link{};
    link.next = i + 1 < links ? chunk(i + 1) : 0;
    link.transaction = 1;
    link.length = room;
    link.index = i;
    link.pool_salt = s().salt;
    link.epoch = s().sb.epoch;
    std::byte* at = s().at(chunk(i));
    link.checksum = log::link_checksum(link, at + sizeof link);
    std::memcpy(at, &link, sizeof link);
  }
  for (uint64_t i = 0; i < entries; ++i) {
    format::log_entry e = head(64 + 128 * i, sizeof(format::log_chain));
    e.transaction = 1;
    e.flags = format::entry_final | format::entry_chained;
    const format::log_chain c{chunk(0), 0, links, links * room};
    put(e);
    std::memcpy(line(e.position) + 64, &c, sizeof c);
    e.checksum = log::entry_checksum(line(e.position), sizeof e + e.body_size);
    put(e);
    if (i == 0) {  // alone it counts
      const auto log = engine::log_reader(s()).read_lane(0);
      ASSERT_TRUE(log.last.has_value());
      EXPECT_EQ(log.last->records.size(), links * room);
    }
  }
  try {
    engine::log_reader(s()).read_lane(0);
    ADD_FAILURE() << "chains longer than the pool were read";
  } catch (const failure& e) {
    EXPECT_EQ(e.code(), SCUTE_E_CORRUPT);
  }
}

}  // namespace
}  // namespace scute::test
