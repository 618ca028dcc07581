// SPDX-License-Identifier: BSD-3-Clause
#include "rules/abstract_machine.hpp"

#include <algorithm>

namespace scute::sim {

abstract_machine::abstract_machine(const rule_set& rules, uint64_t seed)
    : rules_(rules), random_(seed * 0x9e3779b97f4a7c15 + 1) {
  for (auto& h : history_) h.push_back({0, 0});
  for (thread_state& s : threads_) s.epochs.push_back({++clock_, 0, true});
}

unsigned abstract_machine::roll(unsigned n) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<unsigned>((random_ >> 20) % n);
}

void abstract_machine::say(const std::string& what) {
  if (story_.size() < 400) story_.push_back(std::to_string(clock_) + " " + what);
}

// Values of undo and line records are in `bytes` themselves; those of pages in page_values_.
void abstract_machine::append(unsigned t, record_kind kind, uint64_t line, uint32_t value,
                              uint64_t time) {
  thread_state& s = threads_[t];
  const auto thread = static_cast<uint8_t>(t);
  s.log.push_back({kind, thread, s.transaction, time, time, line, 1, value});
  s.epoch_of.push_back(static_cast<unsigned>(s.epochs.size()));
}

void abstract_machine::begin(unsigned t) {
  threads_[t].open = true;
  threads_[t].phase = 0;
  threads_[t].transaction = next_transaction_++;
  say("thread " + std::to_string(t) + " begins " + std::to_string(threads_[t].transaction));
}

void abstract_machine::cool_others(unsigned t, unsigned page) {
  for (unsigned o = 0; o < threads; ++o) {
    if (o == t) continue;
    threads_[o].hot[page] = 0;
    threads_[o].copy[page].on = false;
  }
}

void abstract_machine::store(unsigned t, unsigned line) {
  thread_state& s = threads_[t];
  // Isolation is the program's: no thread stores to a line that another open transaction has
  // changed.
  for (unsigned o = 0; o < threads; ++o)
    if (o != t && threads_[o].open && history_[line].back().transaction == threads_[o].transaction)
      return;
  for (unsigned o = 0; o < threads; ++o)
    if (o != t && threads_[o].l1[line].dirty) leave_l1(o, line);
  const unsigned page = line / lines_of_page_here;
  const bool hot = s.hot[page] != 0;
  cached& c = s.l1[line];
  if (hot) {
    c.pbit = c.logbit = true;
  } else {
    if (!c.logbit) {
      append(t, record_kind::undo, line, view_[line], ++clock_);
      c.logbit = true;
    }
  }
  c.dirty = true;
  view_[line] = next_value_++;
  auto& h = history_[line];
  if (h.back().transaction == s.transaction)
    h.back().value = view_[line];
  else
    h.push_back({s.transaction, view_[line]});
  say("thread " + std::to_string(t) + (hot ? " hot" : " cold") + " store line " +
      std::to_string(line) + " = " + std::to_string(view_[line]));
}

void abstract_machine::write(unsigned line) {
  if (rules_.undo_before_line)
    for (thread_state& s : threads_)
      for (size_t i = s.durable; i < s.log.size(); ++i)
        if (s.log[i].kind == record_kind::undo && s.log[i].line == line) s.durable = i + 1;
  place_[line] = view_[line];
  say("line " + std::to_string(line) + " is written back");
}

// HPMT-15.
bool abstract_machine::on_log(const thread_state& s, unsigned line) const {
  const unsigned page = line / lines_of_page_here;
  return rules_.undo_line_logged_too && (s.hot[page] != 0 || s.copy[page].on);
}

void abstract_machine::leave_l1(unsigned t, unsigned line) {
  thread_state& s = threads_[t];
  cached& c = s.l1[line];
  if (!c.dirty) {
    c = {};
    return;
  }
  say("line " + std::to_string(line) + " leaves cache " + std::to_string(t));
  l2_dirty_[line] = true;
  if (s.open && c.logbit) {
    if (c.pbit) {
      if (rules_.log_before_eviction) {
        append(t, record_kind::line, line, view_[line], ++clock_);
        s.durable = s.log.size();
      }
    } else if (rules_.undo_line_written_on_eviction) {
      if (on_log(s, line)) append(t, record_kind::line, line, view_[line], ++clock_);
      write(line);
      l2_dirty_[line] = false;
    }
  }
  c = {};
}

void abstract_machine::leave_l2(unsigned line) {
  for (unsigned t = 0; t < threads; ++t) leave_l1(t, line);
  if (!l2_dirty_[line]) return;
  write(line);
  l2_dirty_[line] = false;
}

void abstract_machine::copy_step(unsigned t, unsigned page) {
  thread_state& s = threads_[t];
  copying& c = s.copy[page];
  if (s.hot[page] != 0) return;
  if (!c.on) {
    if (s.open == rules_.copying_between || s.transaction == 0) return;
    c = {true, ++clock_, s.transaction, 0, {}};
    say("thread " + std::to_string(t) + " copies page " + std::to_string(page));
    return;
  }
  const unsigned line = page * lines_of_page_here + c.next;
  for (unsigned o = 0; o < threads; ++o)
    if (o != t && threads_[o].l1[line].logbit && threads_[o].open && rules_.page_leaves_out_open) {
      c.on = false;
      return;
    }
  c.values[c.next] = view_[line];
  if (++c.next != lines_of_page_here) return;
  c.on = false;
  log_record r{record_kind::page,  static_cast<uint8_t>(t),
               c.transaction,      c.start,
               ++clock_,           page * lines_of_page_here,
               lines_of_page_here, static_cast<uint32_t>(page_values_.size())};
  if (!rules_.page_time_is_start) r.time = r.end;
  page_values_.emplace_back(c.values.begin(), c.values.end());
  if (rules_.log_in_order) s.durable = s.log.size();
  s.page_log.push_back(r);
  s.page_epoch_of.push_back(static_cast<unsigned>(s.epochs.size()));
  s.hot[page] = static_cast<unsigned>(s.epochs.size());
  say("page " + std::to_string(page) + " is hot for thread " + std::to_string(t));
}

void abstract_machine::commit_step(unsigned t) {
  thread_state& s = threads_[t];
  const auto write_undo_logged = [&] {
    for (unsigned line = 0; line < lines; ++line)
      if (s.l1[line].logbit && !s.l1[line].pbit) {
        write(line);
        s.l1[line].dirty = false;
      }
  };
  switch (s.phase++) {
    case 0:
      for (unsigned line = 0; line < lines; ++line)
        if (s.l1[line].logbit && (s.l1[line].pbit || on_log(s, line)))
          append(t, record_kind::line, line, view_[line], ++clock_);
      break;
    case 1: s.durable = s.log.size(); break;
    case 2:
      if (rules_.line_before_commit) write_undo_logged();
      break;
    case 3: append(t, record_kind::commit, 0, 0, ++clock_); break;
    default:
      s.durable = s.log.size();
      write_undo_logged();
      for (cached& c : s.l1) c.logbit = false;
      if (rules_.commit_cools) {
        for (const log_record& r : s.log)
          if (r.kind == record_kind::undo && r.transaction == s.transaction)
            cool_others(t, static_cast<unsigned>(r.line) / lines_of_page_here);
      }
      s.open = false;
      say("thread " + std::to_string(t) + " has committed " + std::to_string(s.transaction));
  }
}

void abstract_machine::new_epoch(unsigned t) {
  thread_state& s = threads_[t];
  if (s.open) return;
  for (const copying& c : s.copy)
    if (c.on) return;
  s.epochs.back().end = ++clock_;
  s.epochs.push_back({++clock_, 0, true});
  say("thread " + std::to_string(t) + " begins an epoch");
  const auto active = static_cast<unsigned>(std::ranges::count(s.epochs, true, &epoch::active));
  if (active < epochs_max) return;
  // The oldest id is wanted again: what its records name is made durable, its pages are cold.
  const auto oldest = std::ranges::find(s.epochs, true, &epoch::active);
  const auto number = static_cast<unsigned>(oldest - s.epochs.begin()) + 1;
  // By number: writing a line back may append records.
  for (size_t i = 0; i < s.log.size(); ++i)
    if (s.epoch_of[i] == number && s.log[i].kind != record_kind::commit)
      leave_l2(static_cast<unsigned>(s.log[i].line));
  for (size_t i = 0; i < s.page_log.size(); ++i)
    if (s.page_epoch_of[i] == number)
      for (unsigned l = 0; l < lines_of_page_here; ++l)
        leave_l2(static_cast<unsigned>(s.page_log[i].line) + l);
  for (unsigned& hot : s.hot)
    if (hot == number) hot = 0;
  oldest->active = false;
  say("thread " + std::to_string(t) + " clears epoch " + std::to_string(number));
}

void abstract_machine::drop_records() {
  uint64_t first = UINT64_MAX;
  for (const thread_state& s : threads_)
    for (const epoch& e : s.epochs)
      if (e.active) first = std::min(first, e.start);
  if (rules_.one_truncation_point) {
    truncation_point_ = std::max(truncation_point_, first - 1);
    return;
  }
  // The paper's way: an inactive epoch goes when all active ones began after its end.
  thread_state& s = threads_[roll(threads)];
  for (size_t e = 0; e < s.epochs.size(); ++e) {
    if (s.epochs[e].active || s.epochs[e].end >= first) continue;
    for (size_t i = s.log.size(); i-- > 0;)
      if (s.epoch_of[i] == e + 1) {
        s.log.erase(s.log.begin() + static_cast<std::ptrdiff_t>(i));
        s.epoch_of.erase(s.epoch_of.begin() + static_cast<std::ptrdiff_t>(i));
        if (i < s.durable) --s.durable;
      }
    for (size_t i = s.page_log.size(); i-- > 0;)
      if (s.page_epoch_of[i] == e + 1) {
        s.page_log.erase(s.page_log.begin() + static_cast<std::ptrdiff_t>(i));
        s.page_epoch_of.erase(s.page_epoch_of.begin() + static_cast<std::ptrdiff_t>(i));
      }
  }
}

bool abstract_machine::recover(const std::vector<log_record>& durable) {
  const recovery r(durable, truncation_point_, rules_);
  bool right = true;
  for (unsigned line = 0; line < lines; ++line) {
    if (const log_record* const from = r.source_for(line))
      place_[line] = from->kind == record_kind::page ? page_values_[from->bytes][line - from->line]
                                                     : from->bytes;
    // The last change that is committed; those dropped from the log were.
    auto& h = history_[line];
    while (h.size() > 1 &&
           std::ranges::any_of(threads_,
                               [&](const thread_state& s) {
                                 return s.open && s.transaction == h.back().transaction;
                               }) &&
           !r.committed(h.back().transaction))
      h.pop_back();
    if (place_[line] == h.back().value) continue;
    say("WRONG line " + std::to_string(line) + ": " + std::to_string(place_[line]) +
        " instead of " + std::to_string(h.back().value));
    right = false;
  }
  if (rules_.times_go_on)
    clock_ = std::max(clock_, r.next_time());
  else
    clock_ = 0;
  return right;
}

// Of what need not be durable a part is, at the front of the rest; or, without HPMT-13, anywhere.
void abstract_machine::lose_end(thread_state& s) {
  const auto rest = static_cast<unsigned>(s.log.size() - s.durable);
  const size_t kept = s.durable + roll(rest + 1);
  if (rules_.log_in_order) {
    s.log.resize(kept);
    s.epoch_of.resize(kept);
    return;
  }
  while (s.log.size() > kept) {
    const size_t i = s.durable + roll(static_cast<unsigned>(s.log.size() - s.durable));
    s.log.erase(s.log.begin() + static_cast<std::ptrdiff_t>(i));
    s.epoch_of.erase(s.epoch_of.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool abstract_machine::crash() {
  ++crashes_;
  say("power failure");
  std::vector<log_record> durable;
  for (thread_state& s : threads_) {
    lose_end(s);
    s.durable = s.log.size();
    durable.insert(durable.end(), s.log.begin(), s.log.end());
    durable.insert(durable.end(), s.page_log.begin(), s.page_log.end());
  }
  const bool right = recover(durable);
  const uint64_t restarted = clock_;
  // Recovery may fail, too: then it runs again from the same logs.
  const bool again = roll(2) == 0 || recover(durable);
  clock_ = std::max(clock_, restarted);
  uint64_t all = truncation_point_;
  for (const log_record& r : durable) all = std::max({all, r.time, r.end});
  if (rules_.recovery_moves_truncation_point) truncation_point_ = all;
  for (thread_state& s : threads_) {
    thread_state fresh;
    if (!rules_.recovery_moves_truncation_point) {
      fresh.log = s.log;
      fresh.page_log = s.page_log;
    }
    s = fresh;
    s.durable = s.log.size();
    s.epoch_of.assign(s.log.size(), 1);
    s.page_epoch_of.assign(s.page_log.size(), 1);
    s.epochs.push_back({++clock_, 0, true});
  }
  view_ = place_;
  l2_dirty_ = {};
  for (unsigned line = 0; line < lines; ++line) history_[line] = {history_[line].back()};
  if (right && again) story_.clear();
  return right && again;
}

bool abstract_machine::step() {
  const unsigned t = roll(threads);
  thread_state& s = threads_[t];
  if (s.open && s.phase != 0) {
    if (roll(3) != 0) {
      commit_step(t);
      return true;
    }
  }
  switch (const unsigned what = roll(48); what) {
    case 0:
      if (roll(3) == 0) return crash();
      break;
    case 1:
      s.hot[roll(pages)] = 0;
      say("thread " + std::to_string(t) + " loses a translation");
      break;
    case 2:
    case 3:
    case 4: leave_l1(t, roll(lines)); break;
    case 5:
    case 6:
    case 7: leave_l2(roll(lines)); break;
    case 8: drop_records(); break;
    default:
      if (what < 22)
        copy_step(t, roll(pages));
      else if (!s.open && roll(3) == 0)
        new_epoch(t);
      else if (!s.open)
        begin(t);
      else if (s.phase == 0 && what < 40)
        store(t, roll(lines));
      else if (s.phase == 0 && roll(2) == 0)
        commit_step(t);
  }
  return true;
}

}  // namespace scute::sim
