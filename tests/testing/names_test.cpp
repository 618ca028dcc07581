// SPDX-License-Identifier: BSD-3-Clause
// Names of crash states and of places, the faults on top of crashes, and what a moment of a
// recording means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <scute/testing.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "testing/crash_state.hpp"
#include "testing/pool/faults.hpp"
#include "testing/pool/place.hpp"
#include "testing/recording.hpp"

namespace scute::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

model::persistence_model::image pool_image(scute_protection level) {
  const scenario s("image", small_pool(level));
  const auto& state = detail::scenario_state::of(s);
  return start_image(state, *state.make(), 1);
}

// ---- states -------------------------------------------------------------------------------------

TEST(StateName, Text) {
  EXPECT_EQ((state_name{1, 2, 30, 4}.text()), "s1.i2.m30.v4");
  for (const state_name& n : {state_name{}, state_name{7, 0, 123456, 99},
                              state_name{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}}) {
    const auto back = state_name::parse(n.text());
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->seed, n.seed);
    EXPECT_EQ(back->interleaving, n.interleaving);
    EXPECT_EQ(back->moment, n.moment);
    EXPECT_EQ(back->variant, n.variant);
  }
}

TEST(StateName, WhatIsNone) {
  for (const char* text :
       {"", "s", "s1", "s1.i2", "s1.i2.m3", "s1.i2.m3.v", "s1.i2.m3.v4 ", " s1.i2.m3.v4",
        "s1.i2.m3.v4x", "S1.i2.m3.v4", "s1 i2 m3 v4", "i1.s2.m3.v4", "s-1.i2.m3.v4", "s1.i2.m3.v-4",
        "s 1.i2.m3.v4", "s+1.i2.m3.v4", "s01.i2.m3.v4", "s99999999999999999999.i0.m0.v0"})
    EXPECT_FALSE(state_name::parse(text).has_value()) << text;
}

// ---- moments ------------------------------------------------------------------------------------

event at(event_kind what, unsigned actor = 0) {
  event e{};
  e.what = what;
  e.actor = static_cast<uint8_t>(actor);
  return e;
}

class Moments : public ::testing::Test {
 protected:
  Moments() {
    r.states = {{"start", "one", "two"}, {"other start", "other"}};
    r.events.events = {
        at(event_kind::fenced),    at(event_kind::begun, 0),  at(event_kind::streamed, 0),
        at(event_kind::fenced, 0), at(event_kind::begun, 1),  at(event_kind::found, 1),
        at(event_kind::ended, 0),  at(event_kind::fenced, 1), at(event_kind::begun, 0),
        at(event_kind::damaged),   at(event_kind::ended, 1),  at(event_kind::flushed, 0),
        at(event_kind::stored, 0), at(event_kind::ended, 0),
    };
  }
  std::vector<std::vector<std::string>> allowed(uint64_t moment) {
    std::vector<std::vector<std::string>> all;
    for (const auto& one : expected_at(r, moment).allowed) {
      auto& texts = all.emplace_back();
      for (const std::string* t : one) texts.push_back(*t);
    }
    return all;
  }
  recording r;
};

// Fences are where something becomes certain; damage, too; with durable caches, every event.
TEST_F(Moments, OfATrace) {
  EXPECT_THAT(moments(r.events, false), ElementsAre(0, 3, 7, 9, 14));
  EXPECT_THAT(moments(r.events, true), ElementsAre(0, 2, 3, 5, 7, 9, 11, 12, 14));
  EXPECT_THAT(moments(trace{}, false), ElementsAre(0));
}

// A step may have happened from its beginning on, and must have from its end on.
TEST_F(Moments, AllowedTexts) {
  using texts = std::vector<std::vector<std::string>>;
  EXPECT_EQ(allowed(0), (texts{{"start"}, {"other start"}}));
  EXPECT_EQ(allowed(3), (texts{{"start", "one"}, {"other start"}}));
  EXPECT_EQ(allowed(6), (texts{{"start", "one"}, {"other start", "other"}}));
  EXPECT_EQ(allowed(7), (texts{{"one"}, {"other start", "other"}}));
  EXPECT_EQ(allowed(9), (texts{{"one", "two"}, {"other start", "other"}}));
  EXPECT_EQ(allowed(11), (texts{{"one", "two"}, {"other"}}));
  EXPECT_EQ(allowed(14), (texts{{"two"}, {"other"}}));
}

TEST_F(Moments, Steps) {
  const auto counts = steps_at(r, 9);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].done, 1u);
  EXPECT_TRUE(counts[0].under_way);
  EXPECT_EQ(counts[1].done, 0u);
  EXPECT_TRUE(counts[1].under_way);
}

// Until the first step is done, there may be no pool.
TEST_F(Moments, WithoutAPool) {
  EXPECT_FALSE(expected_at(r, 3).absent);
  r.begins_without_subject = true;
  EXPECT_TRUE(expected_at(r, 3).absent);
  EXPECT_FALSE(expected_at(r, 7).absent);
}

// ---- interleavings ------------------------------------------------------------------------------

std::set<std::string> texts_of(const std::vector<schedule>& all) {
  std::set<std::string> texts;
  for (const schedule& s : all) texts.insert(s.text());
  return texts;
}

TEST(Schedules, OfOneThread) {
  EXPECT_EQ(schedules(1, 100, 10, 64, 1).size(), 1u);
}

// All orders with at most one preemption, if there is room for them.
TEST(Schedules, PlainOnesAndSinglePreemptions) {
  const auto all = schedules(2, 10, 4, 100, 1);
  ASSERT_EQ(all.size(), 100u);
  const auto texts = texts_of(all);
  for (const char* first : {"0", "1"}) {
    const std::string plain = std::string("thread ") + first + " first";
    EXPECT_TRUE(texts.count(plain) != 0) << plain;
    for (int op = 0; op < 10; ++op) {
      const std::string one = plain + ", thread " + (*first == '0' ? "1" : "0") +
                              " from operation " + std::to_string(op);
      EXPECT_TRUE(texts.count(one) != 0) << one;
    }
  }
  EXPECT_GT(texts.size(), 90u);
}

TEST(Schedules, AsManyAsWanted) {
  for (const size_t threads : {2, 3, 4})
    for (const uint64_t count : {1, 2, 7, 200}) {
      const auto all = schedules(threads, 50, 9, count, 3);
      EXPECT_EQ(all.size(), count);
      for (const schedule& s : all) {
        EXPECT_LT(s.first, threads);
        for (size_t k = 0; k < s.preemptions.size(); ++k) {
          EXPECT_LT(s.preemptions[k].to, threads);
          EXPECT_LT(s.preemptions[k].operation, 50u + 16u);  // short turns may reach beyond
          if (k != 0) {
            EXPECT_LE(s.preemptions[k - 1].operation, s.preemptions[k].operation);
          }
        }
      }
      EXPECT_EQ(texts_of(all), texts_of(schedules(threads, 50, 9, count, 3)));
    }
  EXPECT_NE(texts_of(schedules(2, 50, 9, 200, 3)), texts_of(schedules(2, 50, 9, 200, 4)));
}

// Threads that never touch the medium have no operations at which to switch.
TEST(Schedules, WithoutOperations) {
  EXPECT_EQ(schedules(3, 0, 0, 64, 1).size(), 3u);
}

// ---- places -------------------------------------------------------------------------------------

TEST(Place, OfNoPool) {
  EXPECT_EQ(place_of(std::vector<std::byte>(65536), 77), "offset +77");
}

TEST(Place, Superblocks) {
  const auto image = pool_image(SCUTE_PROTECT_MLPC);
  EXPECT_EQ(place_of(image, 0), "superblock copy 0 +0");
  EXPECT_EQ(place_of(image, 4095), "superblock copy 0 +4095");
  EXPECT_EQ(place_of(image, 4096 + 8), "superblock copy 1 +8");
  EXPECT_EQ(place_of(image, image.size() - 4096), "superblock copy 2 +0");
  EXPECT_EQ(place_of(image, image.size() - 1), "superblock copy 2 +4095");
}

// A damaged first superblock does not matter: there are two more.
TEST(Place, GeometryFromAnyCopy) {
  auto image = pool_image(SCUTE_PROTECT_MLPC);
  image[100] ^= std::byte{1};
  EXPECT_EQ(place_of(image, 0), "superblock copy 0 +0");
  image[4096 + 100] ^= std::byte{1};
  EXPECT_EQ(place_of(image, 0), "superblock copy 0 +0");
  image[image.size() - 4096 + 100] ^= std::byte{1};
  EXPECT_EQ(place_of(image, 0), "offset +0");
}

// Every line of a pool has a name of its own, and all kinds of places occur, in the file's order.
TEST(Place, EveryLineHasAName) {
  const auto image = pool_image(SCUTE_PROTECT_MLPC);
  std::set<std::string> names;
  std::vector<std::string> kinds;  // names without their numbers
  for (uint64_t offset = 0; offset < image.size(); offset += 64) {
    const std::string name = place_of(image, offset);
    EXPECT_TRUE(names.insert(name).second) << name;
    std::string kind = name.substr(0, name.rfind(" +"));
    std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  std::vector<std::string> once;
  for (const std::string& k : kinds)
    if (std::find(once.begin(), once.end(), k) == once.end()) once.push_back(k);
  // Zones need not fill the file.
  std::erase(once, "unused space");
  EXPECT_THAT(
      once, ElementsAre("superblock copy ", "lane , replica , status line", "lane , replica , log",
                        "lane , replica , undo area", "zone descriptor", "root anchor",
                        "header of chunk ", "chunk ", "parity, column"));
  // 3 lanes, 2 replicas.
  for (const char* lane : {"0", "1", "2"})
    for (const char* replica : {"0", "1"})
      EXPECT_TRUE(names.count(std::string("lane ") + lane + ", replica " + replica +
                              ", status line +0") != 0);
  EXPECT_EQ(names.count("lane 3, replica 0, status line +0"), 0u);
  for (const char* begin : {"zone descriptor +0", "root anchor +0", "header of chunk 0 +0",
                            "chunk 0 +0", "parity, column +0"})
    EXPECT_TRUE(names.count(begin) != 0) << begin;
}

// ---- faults -------------------------------------------------------------------------------------

using injuring = injury (*)(std::span<const std::byte>, uint64_t);

// The places that numbers 0 to 999 injure: place without the position, and how often.
std::map<std::string, int> injured(injuring injure, const model::persistence_model::image& image) {
  std::map<std::string, int> places;
  std::set<std::pair<uint64_t, size_t>> different;
  for (uint64_t number = 0; number < 1000; ++number) {
    const injury i = injure(image, number), again = injure(image, number);
    EXPECT_EQ(i.offset, again.offset);
    EXPECT_EQ(i.bytes, again.bytes);
    EXPECT_EQ(i.text, again.text);
    EXPECT_FALSE(i.text.empty());
    EXPECT_FALSE(i.bytes.empty());
    EXPECT_LE(i.offset + i.bytes.size(), image.size());
    EXPECT_NE(0, std::memcmp(image.data() + i.offset, i.bytes.data(), i.bytes.size())) << i.text;
    different.insert({i.offset, i.bytes.size()});
    // All of it is in one place: one replica of something.
    const auto name = [&](uint64_t offset) {
      const std::string place = place_of(image, offset);
      return place.substr(0, place.starts_with("lane") ? place.rfind(',') : place.find(" +"));
    };
    EXPECT_EQ(name(i.offset), name(i.offset + i.bytes.size() - 1)) << i.text;
    ++places[name(i.offset)];
  }
  EXPECT_GT(different.size(), 100u);
  return places;
}

TEST(Faults, ReplicasOfLanesAndSuperblocks) {
  const auto places = injured(injure_replica, pool_image(SCUTE_PROTECT_MLPC));
  EXPECT_EQ(places.size(), 3u + 6u);
  for (const auto& [place, count] : places) {
    EXPECT_TRUE(place.starts_with("superblock copy ") || place.starts_with("lane ")) << place;
    EXPECT_GT(count, 30) << place;
  }
}

// Lanes that have one replica cannot lose it.
TEST(Faults, OnlySuperblocksIfLanesHaveNoReplica) {
  const auto places = injured(injure_replica, pool_image(SCUTE_PROTECT_NONE));
  EXPECT_EQ(places.size(), 3u);
  for (const auto& [place, count] : places) EXPECT_THAT(place, StartsWith("superblock copy "));
}

TEST(Faults, PagesOfZones) {
  const auto image = pool_image(SCUTE_PROTECT_MLPC);
  std::set<uint64_t> pages;
  for (uint64_t number = 0; number < 3000; ++number) {
    const injury i = injure_page(image, number);
    ASSERT_FALSE(i.bytes.empty());
    EXPECT_EQ(i.bytes, injure_page(image, number).bytes);
    const uint64_t last = i.offset + i.bytes.size() - 1;
    EXPECT_EQ(i.offset / 4096, last / 4096) << i.text;
    EXPECT_NE(0, std::memcmp(image.data() + i.offset, i.bytes.data(), i.bytes.size()));
    for (const uint64_t offset : {i.offset, last}) {
      const std::string place = place_of(image, offset);
      EXPECT_FALSE(place.starts_with("lane") || place.starts_with("superblock") ||
                   place.starts_with("unused"))
          << place;
    }
    pages.insert(i.offset / 4096);
  }
  // Each page of the zones, and no other.
  uint64_t in_zones = 0;
  for (uint64_t page = 0; page < image.size() / 4096; ++page) {
    const std::string place = place_of(image, page * 4096);
    in_zones += !place.starts_with("lane") && !place.starts_with("superblock") &&
                !place.starts_with("unused");
  }
  EXPECT_EQ(pages.size(), in_zones);
}

TEST(Faults, OfNoPool) {
  const std::vector<std::byte> zeros(65536);
  EXPECT_TRUE(injure_replica(zeros, 1).bytes.empty());
  EXPECT_TRUE(injure_page(zeros, 1).bytes.empty());
}

}  // namespace
}  // namespace scute::testing
