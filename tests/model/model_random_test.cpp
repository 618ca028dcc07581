// SPDX-License-Identifier: BSD-3-Clause
// The persistence model against another one, which is written as a machine that runs: it keeps all
// states that the machine could be in, lets any piece of any store drain to the durable memory at
// any time, and at a fence drops the states that the fence rules out. Slow, and with other notions
// than the model's: there are no choices and no closures in it, only histories.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "litmus.hpp"
#include "support/seed.hpp"

namespace scute::model {
namespace {

constexpr int memory_size = 128;

class machine {
 public:
  enum class how { cached, streamed, found };

  explicit machine(bool eadr) : eadr_(eadr) {
    state first{};
    first.version.fill(-1);
    states_.insert(first);
  }

  using source = std::pair<int, int>;  // writer, thread

  void store(how h, int offset, const std::vector<std::byte>& bytes, source by) {
    if (h != how::found) announce();
    // Which bytes go together: those of one word.
    std::map<int, piece> words;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int at = offset + static_cast<int>(i);
      piece& p = words[at / 8];
      p.store = stores_;
      p.kind = h;
      p.by = by;
      p.bytes[at] = bytes[i];
    }
    ++stores_;
    std::map<int, int> of_line;
    for (const auto& [word, p] : words) ++of_line[word / 8];
    std::set<int> at_once;
    for (const auto& [word, p] : words) {
      if (eadr_ && h == how::cached && of_line[word / 8] == 1)
        at_once.insert(static_cast<int>(pieces_.size()));
      else if (eadr_ && h != how::streamed)
        visible_.insert(static_cast<int>(pieces_.size()));
      pieces_.push_back(p);
    }
    run();
    require(at_once);
  }
  void flush(int offset, int n, source by) {
    announce();
    std::set<int> lines;
    for (int at = offset; at < offset + n; ++at) lines.insert(at / 64);
    for (piece& p : pieces_)
      if (p.kind != how::streamed && lines.count(p.line()) != 0) p.flushed_by.insert(by);
  }
  void fence(source by) {
    announce();
    const auto forgotten = [&](const source& s) {
      return s.first == by.first && s.second != by.second;
    };
    for (piece& p : pieces_) {
      std::erase_if(p.flushed_by, forgotten);
      if (forgotten(p.by)) p.by = {};
    }
    std::set<int> done;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const piece& p = pieces_[i];
      if (p.kind == how::streamed ? p.by == by : p.flushed_by.count(by) != 0)
        done.insert(static_cast<int>(i));
    }
    require(done);
  }

  size_t pieces() const { return pieces_.size(); }
  std::set<std::vector<std::byte>> images() const {
    std::set<std::vector<std::byte>> all;
    for (const state& s : states_) {
      std::vector<std::byte> image(memory_size);
      for (int at = 0; at < memory_size; ++at)
        if (s.version[at] >= 0) image[at] = pieces_[s.version[at]].bytes.at(at);
      all.insert(image);
    }
    return all;
  }

 private:
  struct piece {
    int store = 0;
    source by{};
    how kind = how::cached;
    std::map<int, std::byte> bytes;
    std::set<source> flushed_by;
    int line() const { return bytes.begin()->first / 64; }
  };
  struct state {
    uint32_t drained = 0;
    std::array<int8_t, memory_size> version;  // of each durable byte: the piece that it is of
    auto operator<=>(const state&) const = default;
  };

  bool may_drain(const state& s, int i) const {
    if ((s.drained >> i & 1) != 0) return false;
    if (pieces_[i].kind != how::cached) return true;
    for (int k = 0; k < i; ++k)
      if (pieces_[k].kind == how::cached && pieces_[k].line() == pieces_[i].line() &&
          pieces_[k].store < pieces_[i].store && (s.drained >> k & 1) == 0)
        return false;
    return true;
  }
  // All that can happen by itself.
  void run() {
    std::vector<state> open(states_.begin(), states_.end());
    while (!open.empty()) {
      const state s = open.back();
      open.pop_back();
      for (int i = 0; i < static_cast<int>(pieces_.size()); ++i) {
        if (!may_drain(s, i)) continue;
        state next = s;
        next.drained |= uint32_t{1} << i;
        for (const auto& [at, byte] : pieces_[i].bytes)
          next.version[at] = std::max(next.version[at], static_cast<int8_t>(i));
        if (states_.insert(next).second) open.push_back(next);
      }
    }
  }
  void require(const std::set<int>& drained) {
    std::erase_if(states_, [&](const state& s) {
      for (const int i : drained)
        if ((s.drained >> i & 1) == 0) return true;
      return false;
    });
  }
  void announce() {
    require(visible_);
    visible_.clear();
  }

  bool eadr_;
  int stores_ = 0;
  std::vector<piece> pieces_;
  std::set<int> visible_;  // eADR: durable when something else is done
  std::set<state> states_;
};

std::string text(const std::vector<std::byte>& image) {
  std::string t;
  for (size_t at = 0; at < image.size(); ++at) {
    if (at % 8 == 0 && at != 0) t += at % 64 == 0 ? " | " : " ";
    t += static_cast<char>(image[at] == std::byte{} ? '.' : static_cast<char>(image[at]));
  }
  return t;
}

// One random program, on both.
void compare(test::random_source& random, bool eadr, size_t pieces_max) {
  persistence_model m(eadr);
  m.reset(std::vector<std::byte>(memory_size));
  machine reference(eadr);
  std::string program;
  char next = 'a';
  for (uint64_t left = random.between(1, 14); left != 0 && reference.pieces() < pieces_max;
       --left) {
    // Each thread has a writer of its own; at times one uses the other one's.
    const auto thread = static_cast<unsigned>(random.between(1, 2));
    const unsigned writer = random.one_in(4) ? 3 - thread : thread;
    const machine::source who{static_cast<int>(writer), static_cast<int>(thread)};
    const persistence_model::source source{writer, thread};
    const std::string by = std::string(thread == 1 ? "A" : "B") + (writer == thread ? ": "
                                                                   : writer == 1    ? "/A: "
                                                                                    : "/B: ");
    // A few places, so that stores meet: around the start of the first line, and its end.
    auto at = static_cast<int>(random.one_in(2) ? random.between(0, 11) : random.between(52, 72));
    auto n = static_cast<int>(random.one_in(3) ? random.between(1, 14) : 8);
    if (random.one_in(2)) at &= ~7;
    if (random.one_in(4)) n = 16;
    const uint64_t what = random.between(0, 8);
    if (what < 6) {
      const auto h = static_cast<machine::how>(what % 3);
      std::vector<std::byte> bytes(static_cast<size_t>(n), static_cast<std::byte>(next));
      if (random.one_in(12)) bytes.assign(bytes.size(), std::byte{});  // back to what was there
      if (h == machine::how::cached) m.store(static_cast<uint64_t>(at), bytes.data(), bytes.size());
      if (h == machine::how::found) m.found(static_cast<uint64_t>(at), bytes.data(), bytes.size());
      if (h == machine::how::streamed)
        m.stream(static_cast<uint64_t>(at), bytes.data(), bytes.size(), source);
      reference.store(h, at, bytes, who);
      program += by + (h == machine::how::cached     ? "store "
                       : h == machine::how::streamed ? "stream "
                                                     : "found ");
      program += std::to_string(at) + "+" + std::to_string(n) + " " + next++ + "; ";
    } else if (what < 8) {
      m.flush(static_cast<uint64_t>(at), static_cast<size_t>(n), source);
      reference.flush(at, n, who);
      program += by + "flush " + std::to_string(at) + "+" + std::to_string(n) + "; ";
    } else {
      m.fence(source);
      reference.fence(who);
      program += by + "fence; ";
    }
  }
  std::set<std::vector<std::byte>> modelled;
  ASSERT_LE(m.atoms().size(), 16u) << program;
  for_each_allowed(m, [&](const auto& c) { modelled.insert(image_of(m, c)); });
  const auto expected = reference.images();
  if (modelled == expected) return;
  for (const auto& image : expected)
    if (modelled.count(image) == 0)
      ADD_FAILURE() << "the model forbids " << text(image) << "\n after " << program;
  for (const auto& image : modelled)
    if (expected.count(image) == 0)
      ADD_FAILURE() << "the model allows " << text(image) << "\n after " << program;
}

void compare_many(bool eadr, int programs) {
  SCUTE_RANDOM(random);
  for (int i = 0; i < programs && !::testing::Test::HasFailure(); ++i) compare(random, eadr, 8);
}

TEST(ModelRandom, ImagesAreThoseOfAMachineThatRuns) {
  compare_many(false, 1000);
}
TEST(ModelRandom, ImagesAreThoseOfAMachineThatRunsWithDurableCaches) {
  compare_many(true, 1000);
}

}  // namespace
}  // namespace scute::model
