// SPDX-License-Identifier: BSD-3-Clause
#include "crash/story.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace scute::sim {
namespace {

constexpr uint64_t place = uint64_t{1} << 40;  // of the program's persistent memory

class story {
 public:
  story(const story_plan& plan, const settings& s)
      : plan_(plan),
        random_(plan.seed * 0x9e3779b97f4a7c15 + 0x1234567),
        machine_(s),
        scheme_(make_scheme(plan.scheme_name, machine_)),
        cores_(plan.cores) {
    machine_.mem.add_persistent(place, plan.pages * uint64_t{page_bytes});
    scheme_->keep_contents(bytes_);
    if (plan.prepare) plan.prepare(*scheme_);
  }

  story_end play() {
    while (ended_.size() < plan_.transactions) step();
    // Every crash cuts the open transactions short.
    machine_.cache.verify();
    story_end end;
    end.of_scheme = scheme_->counted();
    std::vector<ticks> moments = bytes_.moments();
    const std::vector<ticks> of_log = scheme_->log_moments();
    moments.insert(moments.end(), of_log.begin(), of_log.end());
    for (const transaction& t : ended_) moments.push_back(t.end);
    std::ranges::sort(moments);
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    end.moments = moments.size();
    const size_t stride = std::max<size_t>(1, moments.size() / plan_.moments_max);
    for (size_t i = plan_.seed % stride; i < moments.size() && end.wrong.empty(); i += stride) {
      ++end.crashes;
      end.wrong = verify(moments[i]);
    }
    return end;
  }

 private:
  struct transaction {
    uint32_t number;
    ticks end;
    std::map<uint64_t, uint64_t> words;
  };
  struct core_state {
    unsigned left = 0;  // stores of the open transaction
    std::map<uint64_t, uint64_t> words;
  };

  unsigned roll(unsigned n) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<unsigned>((random_ >> 20) % n);
  }

  bool taken(unsigned core, uint64_t line) const {
    for (unsigned o = 0; o < cores_.size(); ++o)
      if (o != core && scheme_->is_open(o))
        for (const auto& [address, value] : cores_[o].words)
          if (line_of(address) == line) return true;
    return false;
  }

  void refer(unsigned core, uint64_t address, bool store) {
    operation op;
    const reference r{address, 8, store};
    machine_.cores[core].run(op, {&r, 1});
  }

  void step() {
    unsigned core = 0;
    for (unsigned c = 1; c < cores_.size(); ++c)
      if (machine_.cores[c].now() < machine_.cores[core].now()) core = c;
    core_state& s = cores_[core];
    if (!scheme_->is_open(core)) {
      // Time passes, so that engines that run concurrently with the cores make progress.
      if (roll(2) == 0) machine_.cores[core].spend(roll(20000));
      scheme_->begin(core);
      s.left = roll(plan_.stores_max) + 1;
      s.words.clear();
      return;
    }
    if (s.left == 0) {
      const uint32_t number = scheme_->transaction(core);
      scheme_->end(core);
      ended_.push_back({number, machine_.cores[core].now(), s.words});
      for (const auto& [word, value] : s.words) released_[line_of(word)] = ended_.back().end;
      return;
    }
    --s.left;
    // Few pages are favoured, so that they become hot.
    const unsigned page = roll(3) != 0 ? roll(2) : roll(plan_.pages);
    const uint64_t address = place + page * uint64_t{page_bytes} +
                             roll(plan_.lines_used) * uint64_t{line_bytes} * 3 + roll(8) * 8;
    if (taken(core, line_of(address))) return;
    // Waits as for a lock: until the last core that used the line was done.
    if (const auto at = released_.find(line_of(address)); at != released_.end())
      machine_.cores[core].wait(at->second);
    if (roll(4) == 0) refer(core, address, false);
    refer(core, address, true);
    bytes_.store(address, ++value_);
    s.words[address] = value_;
    // Reads elsewhere push lines and translations out.
    for (unsigned n = roll(4); n != 0; --n)
      refer(core,
            place + roll(plan_.pages) * uint64_t{page_bytes} + roll(64) * uint64_t{line_bytes},
            false);
  }

  std::string verify(ticks crash) const {
    const scheme::recovered r = scheme_->recover(crash);
    const auto is_committed = [&](uint32_t number) {
      return std::ranges::binary_search(r.committed, number);
    };
    const auto at = [&] { return " after a power failure at " + std::to_string(crash); };
    std::map<uint64_t, uint64_t> expected;
    for (const transaction& t : ended_) {
      if (t.end <= crash && !t.words.empty() && !is_committed(t.number))
        return "SCHEME-1: transaction " + std::to_string(t.number) + " had ended and is gone" +
               at();
      if (is_committed(t.number))
        for (const auto& [address, value] : t.words) expected[address] = value;
      else
        for (const auto& [address, value] : t.words) expected.try_emplace(address, 0);
    }
    for (const core_state& s : cores_)
      for (const auto& [address, value] : s.words) expected.try_emplace(address, 0);
    for (const auto& [address, value] : expected) {
      const auto line = r.memory.find(line_of(address));
      const uint64_t there = line == r.memory.end() ? 0 : line->second[address / 8 % 8];
      if (there != value)
        return "word " + std::to_string((address - place) / 8) + " is " + std::to_string(there) +
               " instead of " + std::to_string(value) + at();
    }
    return "";
  }

  const story_plan plan_;
  uint64_t random_, value_ = 0;
  machine machine_;
  contents bytes_;
  std::unique_ptr<scheme> scheme_;
  std::vector<core_state> cores_;
  std::vector<transaction> ended_;
  std::map<uint64_t, ticks> released_;  // by line
};

}  // namespace

settings small_machine(unsigned cores) {
  settings s;
  s.cores = cores;
  s.l1_sets = 2;
  s.l1_ways = 3;
  s.l2_sets = 4;
  s.l2_ways = 4;
  s.tlb1 = 2;
  s.tlb1_ways = 2;
  s.tlb2 = 4;
  s.tlb2_ways = 4;
  s.hot = 3;
  s.epochs = 3;
  s.epoch_records = 2;
  s.epoch_pages = 2;
  s.hoop_collect = 2;
  return s;
}

story_end play_story(const story_plan& plan, const settings& s) {
  return story(plan, s).play();
}

}  // namespace scute::sim
