// SPDX-License-Identifier: BSD-3-Clause
// The recorder, which finds unannounced stores, and the replay of its records.
#include "testing/trace.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "model/simulated_memory.hpp"
#include "support/seed.hpp"

namespace scute::testing {
namespace {

constexpr uint64_t size = 3 * model::simulated_memory::page;

// A program on a simulated memory, which does what the simulated medium does.
class program {
 public:
  explicit program(bool eadr = false) : memory(size, eadr), record(memory) {
    memory.listener = &record;
  }
  void stream(uint64_t at, const std::string& text, unsigned writer = 1) {
    record.before(at, text.size());
    in_place(at, text);
    record.streamed(at, text.size(), writer);
  }
  void store(uint64_t at, const std::string& text) {
    record.before(at, text.size());
    in_place(at, text);
    record.stored(at, text.size());
  }
  void flush(uint64_t at, size_t n, unsigned writer = 1) {
    record.before(at, n);
    record.flushed(at, n, writer);
  }
  void fence(unsigned writer = 1) {
    record.before(0, 0);
    record.fenced(writer);
  }
  void in_place(uint64_t at, const std::string& text) {
    std::memcpy(memory.bytes().data() + at, text.data(), text.size());
  }

  // Events as text: "found 8 abc".
  std::vector<std::string> events() const {
    static constexpr const char* names[] = {"streamed", "stored",  "found", "flushed",
                                            "fenced",   "damaged", "begun", "ended"};
    std::vector<std::string> all;
    for (const event& e : record.result.events) {
      std::string t = names[static_cast<int>(e.what)];
      if (e.what != event_kind::fenced) t += " " + std::to_string(e.offset);
      if (e.what <= event_kind::found || e.what == event_kind::damaged)
        t += " " + std::string(reinterpret_cast<const char*>(record.result.data.data()) + e.bytes,
                               e.length);
      all.push_back(t);
    }
    return all;
  }

  model::simulated_memory memory;
  recorder record;
};

using text_list = std::vector<std::string>;

TEST(Recorder, AnnouncedStores) {
  program p;
  p.stream(3, "abc", 2);
  p.store(64, "d");
  p.flush(64, 1, 3);
  p.fence(4);
  EXPECT_EQ(p.events(), (text_list{"streamed 3 abc", "stored 64 d", "flushed 64", "fenced"}));
  const auto& e = p.record.result.events;
  EXPECT_EQ(e[0].writer, 2u);
  EXPECT_EQ(e[2].writer, 3u);
  EXPECT_EQ(e[2].length, 1u);
  EXPECT_EQ(e[3].writer, 4u);
}

TEST(Recorder, FindsStoresAtAFlushOfTheirLine) {
  program p;
  p.in_place(64, "12345678");
  p.in_place(128, "abcdefgh");
  p.flush(70, 2);
  EXPECT_EQ(p.events(), (text_list{"found 64 12345678", "flushed 70"}));
  p.flush(100, 50);  // the rest of that line, and the next
  EXPECT_EQ(p.events(),
            (text_list{"found 64 12345678", "flushed 70", "found 128 abcdefgh", "flushed 100"}));
}

TEST(Recorder, FindsAllStoresAtAFence) {
  program p;
  p.in_place(8, "12345678");
  p.in_place(size - 8, "87654321");
  p.fence();
  p.fence();  // and reports them once
  EXPECT_EQ(p.events(),
            (text_list{"found 8 12345678", "found " + std::to_string(size - 8) + " 87654321",
                       "fenced", "fenced"}));
}

TEST(Recorder, FindsStoresAtMarks) {
  program p;
  p.in_place(0, "12345678");
  p.record.mark(event_kind::begun, 5);
  p.in_place(0, "abcdefgh");
  p.record.mark(event_kind::ended, 5);
  EXPECT_EQ(p.events(), (text_list{"found 0 12345678", "begun 5", "found 0 abcdefgh", "ended 5"}));
}

// Whole words, and only those that changed; neighbours as one.
TEST(Recorder, FoundStoresAreWords) {
  program p;
  p.stream(0, std::string(64, '-'));
  p.in_place(9, "x");
  p.in_place(16, "y");
  p.in_place(47, "z");
  p.fence();
  EXPECT_EQ(p.events(), (text_list{"streamed 0 " + std::string(64, '-'), "found 8 -x------y-------",
                                   "found 40 -------z", "fenced"}));
}

TEST(Recorder, StoresOfTheSameValueAreNone) {
  program p;
  p.stream(0, "abcdefgh");
  p.in_place(0, "abcdefgh");
  p.fence();
  EXPECT_EQ(p.events(), (text_list{"streamed 0 abcdefgh", "fenced"}));
}

// As when an abort writes old bytes over what a program has stored in place: those stores may have
// been evicted before.
TEST(Recorder, FindsStoresBeforeTheyAreOverwritten) {
  for (const bool streamed : {false, true}) {
    program p;
    p.in_place(8, "new data");
    if (streamed)
      p.stream(8, "old data");
    else
      p.store(8, "old data");
    p.fence();
    EXPECT_EQ(p.events(),
              (text_list{"found 8 new data", streamed ? "streamed 8 old data" : "stored 8 old data",
                         "fenced"}));
  }
}

// A store in place to the other half of a word does not carry the announced one along.
TEST(Recorder, FindsTheOtherHalfOfAWordFirst) {
  program p;
  p.in_place(4, "half");
  p.stream(0, "word");
  p.fence();
  EXPECT_EQ(p.events(),
            (text_list{std::string("found 0 \0\0\0\0half", 16), "streamed 0 word", "fenced"}));
}

// Where caches are durable, the order of stores matters, also of stores to different lines.
TEST(Recorder, FindsStoresAtOnceWithDurableCaches) {
  program p(true);
  p.in_place(8, "12345678");
  p.stream(512, "a");
  p.in_place(16, "12345678");
  p.store(520, "b");
  p.in_place(24, "12345678");
  p.flush(520, 1);
  EXPECT_EQ(p.events(), (text_list{"found 8 12345678", "streamed 512 a", "found 16 12345678",
                                   "stored 520 b", "found 24 12345678", "flushed 520"}));
}

TEST(Recorder, NotesWhichThreadRan) {
  program p;
  p.fence();
  p.record.actor = 2;
  p.in_place(0, "12345678");
  p.fence();
  const auto& e = p.record.result.events;
  ASSERT_EQ(e.size(), 3u);
  EXPECT_EQ(e[0].actor, 0u);
  EXPECT_EQ(e[1].actor, 2u);
  EXPECT_EQ(e[2].actor, 2u);
}

// The turn may go to another thread before each operation, not in the middle of one.
TEST(Recorder, GivesTheTurnAwayBeforeEachOperation) {
  program p;
  struct {
    program* p;
    std::string log;
  } seen{&p, ""};
  using seen_type = decltype(seen);
  p.record.turn = {[](void* arg, bool) {
                     auto& s = *static_cast<seen_type*>(arg);
                     s.log += s.p->memory.bytes()[0] == std::byte{} ? '0' : '1';
                     s.log += std::to_string(s.p->record.result.events.size()) + " ";
                   },
                   &seen};
  p.stream(0, "a");
  p.flush(0, 1);
  p.fence();
  p.record.mark(event_kind::ended, 0);
  EXPECT_EQ(seen.log, "00 11 12 ");
}

// ---- replay -------------------------------------------------------------------------------------

model::persistence_model replayed(const trace& t, bool eadr = false) {
  model::persistence_model m(eadr);
  m.reset(t.base);
  for (const event& e : t.events) t.replay(e, m);
  return m;
}

std::string at(std::span<const std::byte> image, uint64_t offset, size_t n) {
  return {reinterpret_cast<const char*>(image.data()) + offset, n};
}

TEST(Trace, BeginsWithWhatWasThere) {
  model::simulated_memory memory(size, false);
  std::memcpy(memory.bytes().data() + 100, "before", 6);
  recorder r(memory);
  EXPECT_EQ(at(r.result.base, 100, 6), "before");
  r.compare();
  EXPECT_TRUE(r.result.events.empty());
}

TEST(Trace, ReplayOfAProtocol) {
  program p;
  p.stream(0, "log entry");
  p.fence();
  p.in_place(64, "in place");
  p.flush(64, 8);
  auto m = replayed(p.record.result);
  EXPECT_EQ(at(m.durable(), 0, 9), "log entry");
  ASSERT_EQ(m.atoms().size(), 1u);
  EXPECT_EQ(m.atoms()[0].offset, 64u);
  p.fence();
  m = replayed(p.record.result);
  EXPECT_EQ(at(m.durable(), 64, 8), "in place");
  EXPECT_TRUE(m.atoms().empty());
}

// Damage is durable at once, on top of everything, and no store of the program's.
TEST(Trace, Damage) {
  program p;
  p.stream(0, "aaaaaaaa");  // pending
  p.in_place(64, "12345678");
  p.record.damage(2, reinterpret_cast<const std::byte*>("XY"), 2);
  p.fence(7);
  EXPECT_EQ(p.events(),
            (text_list{"streamed 0 aaaaaaaa", "found 64 12345678", "damaged 2 XY", "fenced"}));
  auto m = replayed(p.record.result);
  EXPECT_EQ(at(m.durable(), 0, 5), std::string("\0\0XY\0", 5));  // pending bytes stay pending
  EXPECT_EQ(at(m.durable(), 64, 1), std::string(1, '\0'));       // not swept along
  model::persistence_model::choice all(m.atoms().size(), true);
  std::vector<std::byte> image(m.durable().begin(), m.durable().end());
  m.apply(all, image);
  EXPECT_EQ(at(image, 0, 8), "aaXYaaaa");
}

// Whichever thread writes, and however: with everything flushed and fenced, the durable bytes
// are the visible ones; and at any moment the visible bytes are one of the images.
TEST(Trace, RandomPrograms) {
  SCUTE_RANDOM(random);
  for (const bool eadr : {false, true})
    for (int round = 0; round < 100; ++round) {
      program p(eadr);
      model::persistence_model m(eadr);
      m.reset(p.record.result.base);
      size_t done = 0;
      const auto catch_up = [&] {
        const trace& t = p.record.result;
        for (; done < t.events.size(); ++done) t.replay(t.events[done], m);
      };
      for (int op = 0; op < 60; ++op) {
        const uint64_t where =
            random.one_in(2) ? random.between(0, 200) : random.between(4000, 4200);
        const std::string text(random.size(100), static_cast<char>(random.between('a', 'z')));
        const auto writer = static_cast<unsigned>(random.between(1, 3));
        switch (random.between(0, 5)) {
          case 0: p.stream(where, text, writer); break;
          case 1: p.store(where, text); break;
          case 2: p.in_place(where, text); break;
          case 3: p.flush(where, text.size(), writer); break;
          case 4:
            p.record.damage(where, reinterpret_cast<const std::byte*>(text.data()), text.size());
            break;
          default: p.fence(writer);
        }
        if (random.one_in(4)) {
          p.record.compare();
          catch_up();
          model::persistence_model::choice all(m.atoms().size(), true);
          std::vector<std::byte> image(m.durable().begin(), m.durable().end());
          m.apply(all, image);
          ASSERT_EQ(0, std::memcmp(image.data(), p.memory.bytes().data(), size))
              << "operation " << op;
        }
      }
      for (unsigned writer = 1; writer <= 3; ++writer) {
        p.flush(0, size, writer);
        p.fence(writer);
      }
      catch_up();
      EXPECT_EQ(0, std::memcmp(m.durable().data(), p.memory.bytes().data(), size));
      EXPECT_TRUE(m.atoms().empty());
    }
}

}  // namespace
}  // namespace scute::testing
