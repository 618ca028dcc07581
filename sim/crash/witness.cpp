// SPDX-License-Identifier: BSD-3-Clause
#include "crash/witness.hpp"

#include <algorithm>
#include <utility>

namespace scute::sim {

witness::witness(scheme& s) : scheme_(s), cores_(s.cores()) {
  bytes_.initial = [this](uint64_t line) { return initial(line); };
  scheme_.keep_contents(bytes_);
}

void witness::remember(uint64_t address, std::vector<uint64_t> words) {
  before_.push_back({address, std::move(words)});
}

line_bytes_of witness::initial(uint64_t line) const {
  const uint64_t address = line * line_bytes;
  line_bytes_of bytes{};
  for (const stretch& s : before_) {
    if (address < s.address || address >= s.address + s.words.size() * 8) continue;
    std::copy_n(s.words.begin() + static_cast<ptrdiff_t>((address - s.address) / 8), bytes.size(),
                bytes.begin());
  }
  return bytes;
}

void witness::store(unsigned core, uint64_t address, uint64_t word, ticks now) {
  bytes_.store(address, word);
  core_state& c = cores_[core];
  const auto [last, is_new] = users_.try_emplace(line_of(address), user{core, never});
  shared_ += !is_new && last->second.core != core && last->second.until > now;
  last->second = {core, c.open ? never : now};
  if (c.open)
    c.words[address] = word;
  else
    ++loose_[address];
}

void witness::end(unsigned core, ticks at) {
  core_state& c = cores_[core];
  for (const auto& [address, word] : c.words)
    if (user& u = users_.at(line_of(address)); u.core == core) u.until = at;
  ended_.push_back({scheme_.transaction(core), at, std::exchange(c.words, {})});
  c.open = false;
}

witness::crash_result witness::verify(unsigned crashes_max) const {
  crash_result v;
  std::vector<ticks> moments = bytes_.moments();
  const std::vector<ticks> of_log = scheme_.log_moments();
  moments.insert(moments.end(), of_log.begin(), of_log.end());
  for (const transaction& t : ended_) {
    moments.push_back(t.end);
    v.words += t.words.size();
  }
  for (const auto& [address, times] : loose_) v.loose += times;
  std::ranges::sort(moments);
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  v.moments = moments.size();
  v.transactions = ended_.size();
  v.shared = shared_;
  const size_t stride = std::max<size_t>(1, moments.size() / std::max(crashes_max, 1U));
  for (size_t i = stride / 2; i < moments.size() && v.wrong.empty(); i += stride) {
    ++v.crashes;
    v.wrong = verify_at(moments[i]);
  }
  return v;
}

std::string witness::verify_at(ticks crash) const {
  const scheme::recovered r = scheme_.recover(crash);
  const auto at = [&] { return " after a power failure at " + std::to_string(crash); };
  // By word: what it must be; nothing where only open transactions have stored, which leaves what
  // was there before.
  std::unordered_map<uint64_t, uint64_t> expected;
  const auto before = [&](uint64_t address) { return initial(line_of(address))[address / 8 % 8]; };
  for (const transaction& t : ended_) {
    const bool committed = std::ranges::binary_search(r.committed, t.number);
    if (t.end <= crash && !t.words.empty() && !committed)
      return "SCHEME-1: transaction " + std::to_string(t.number) + " had ended and is gone" + at();
    for (const auto& [address, value] : t.words) {
      if (committed)
        expected[address] = value;
      else
        expected.try_emplace(address, before(address));
    }
  }
  for (const core_state& c : cores_)
    for (const auto& [address, value] : c.words) expected.try_emplace(address, before(address));
  for (const auto& [address, value] : expected) {
    if (loose_.contains(address)) continue;
    const auto line = r.memory.find(line_of(address));
    const uint64_t there = line == r.memory.end() ? before(address) : line->second[address / 8 % 8];
    if (there != value)
      return "word " + std::to_string(address) + " is " + std::to_string(there) + " instead of " +
             std::to_string(value) + at();
  }
  return "";
}

}  // namespace scute::sim
