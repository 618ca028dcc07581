// SPDX-License-Identifier: BSD-3-Clause
#include "program_run.hpp"

#include "base/locks/waiting.hpp"

namespace scute::view_tests {
namespace {

thread_local unsigned this_thread = 0;

constexpr size_t lines_max = 256;  // of a commit: lists of 16 entries

}  // namespace

program_run::program_run(const program_kind& k, uint64_t seed)
    : kind_(k), random_(seed), file_(k.file_lines * view::line_size, 0, lines_max) {
  for (unsigned t = 0; t < 2; ++t) program_[t] = program_of(k, t, random_);
  const auto below = [&](uint64_t n) { return random_() % n; };
  order_.first = static_cast<unsigned>(below(2));
  if (k.storm || below(2) == 0) {
    // To and fro all the time, in short pieces.
    const uint64_t most = k.storm ? 1 + below(6) : 2 + below(30);
    uint64_t at = 0;
    for (unsigned i = 0; i < (k.storm ? 600 : 200); ++i) {
      // In a storm, the thread that makes the commit sets runs only a few steps while the other
      // one flushes.
      const bool slow = k.storm && (i % 2) == order_.first;
      at += 1 + below(slow ? 2 : most);
      order_.preemptions.push_back({at, (i % 2) ^ order_.first ^ 1, true});
    }
  } else {
    const uint64_t n = 1 + below(5);
    for (uint64_t i = 0; i < n; ++i)
      order_.preemptions.push_back({below(180), static_cast<unsigned>(below(2)), true});
  }
  if (k.contents)
    for (uint64_t at = 0; at < file_.medium.size(); at += 8) {
      const uint64_t v = random_() | 1;
      file_.medium.put(at, std::as_bytes(std::span(&v, 1)));
    }
  if (k.deaths) copy_ = std::make_unique<viewed_file>(file_.medium.size(), 0, lines_max);
  reference_ = std::make_unique<x86_program>(file_.medium.bytes());
  kept_.assign(k.file_lines, 0);
}

std::string program_run::story() const {
  std::string t;
  for (unsigned i = 0; i < 2; ++i) {
    t += "  thread " + std::to_string(i) + ":";
    for (const auto& x : program_[i]) t += " " + text_of(x) + ";";
    t += "\n";
  }
  return t + "  order: " + order_.text() + "\n  what is wrong: " + wrong_ + "\n";
}

void program_run::verify(const char* when) {
  ++states_;
  const std::string text = reference_->violation(file_.medium.bytes());
  if (!text.empty()) note(std::string(when) + ": " + text);
  if (file_.medium.wrong != nullptr) note(file_.medium.wrong);
}

// The process dies now, and the machine continues to run. A supervisor writes back copies of the
// present lines, in both ways.
void program_run::die(const char* when) {
  if (!kind_.deaths || quiet_ || !wrong_.empty()) return;
  quiet_ = true;
  write_back_copy(true, when);
  write_back_copy(false, when);
  quiet_ = false;
}

void program_run::write_back_copy(bool commit, const char* when) {
  ++states_;
  file_.copy_to(*copy_);
  copy_->medium.recover();
  std::vector<bool> was_there;
  for (uint64_t at = 0; at < copy_->medium.size(); at += view::page_size)
    was_there.push_back(copy_->placer.is_there(at));
  const std::vector<std::byte> before(copy_->medium.bytes().begin(), copy_->medium.bytes().end());
  std::vector<std::byte> died = before;
  // A page that no thread has touched has the medium's bytes. (The test does not read it, since
  // that would make it a page of zeros.)
  for (uint64_t i = 0; i < was_there.size(); ++i) {
    const uint64_t at = i * view::page_size;
    if (was_there[i] || !kind_.pages)
      std::memcpy(died.data() + at, copy_->content.data() + at,
                  std::min(view::page_size, died.size() - at));
  }
  view::file_view& v = copy_->open();
  const uint64_t damaged = v.counters().damaged;
  using lines = view::file_view::unflushed_lines;
  view::file_view::writeback_result result;
  uint64_t dropped = 0;
  const bool done = v.crash_writeback(commit ? lines::commit : lines::drop, result,
                                      [&](uint64_t, std::span<const std::byte>) { ++dropped; });
  const std::string where =
      std::string("death ") + when + ", " + (commit ? "commit" : "drop") + ": ";
  if (!done) note(where + "the crash writeback failed");
  if ((loading_ || kind_.pages) && !v.load()) note(where + "load failed");
  if (!copy_->same()) note(where + "the view and the medium differ after it");
  if (v.counters().damaged != damaged) note(where + "undamaged lines were taken for damaged");
  if (!commit && dropped != result.unflushed) note(where + "a dropped line was not reported");
  // Pages that were being loaded count as the medium has them, all others as the view did.
  if (commit)
    for (uint64_t at = 0; at < died.size(); at += view::page_size) {
      const uint64_t n = std::min(view::page_size, died.size() - at);
      const bool is_died = std::memcmp(copy_->medium.bytes().data() + at, died.data() + at, n) == 0;
      const bool is_before =
          std::memcmp(copy_->medium.bytes().data() + at, before.data() + at, n) == 0;
      if (!is_died && !(loading_ && is_before)) note(where + "stores are lost");
      if (loading_ && !is_before) note(where + "a page that was being loaded is lost");
    }
  if (!commit) {
    const std::string text = reference_->survived(copy_->medium.bytes(), kept_);
    if (!text.empty()) note(where + text);
  }
}

void program_run::pass_in(void* self) {
  static_cast<program_run*>(self)->pass(this_thread);
}

void program_run::wait_in(void* self) {
  static_cast<program_run*>(self)->turns_.wait();
}

// Inside the view: the process may die, a handler may run, or the other thread may continue.
void program_run::pass(unsigned thread) {
  if (quiet_) return;
  die("in the view");
  if (alone_) return;
  if (kind_.handlers && !in_handler_[thread] && ++passes_ % 7 == 3) handler(thread);
  turns_.operation(true);
}

void program_run::handler(unsigned thread) {
  in_handler_[thread] = true;
  const uint64_t line = value_ % kind_.lines;
  perform(thread, {act::store, line, 7});
  flush(thread, line, 1);
  reference_->fence(thread, false);
  if (!file_.v->fence(flushers_[thread])) note("a fence failed");
  noted_[thread] = true;
  in_handler_[thread] = false;
}

void program_run::flush(unsigned thread, uint64_t line, uint64_t n) {
  const auto seen = reference_->counts();
  if (!file_.v->flush(flushers_[thread], line * view::line_size, n * view::line_size))
    note("a flush failed");
  for (uint64_t i = line; i < line + n; ++i) {
    reference_->flush(thread, i, seen[i]);
    kept_[i] = std::max(kept_[i], seen[i]);
  }
}

// A store waits here for the kernel. No other thread runs between the end of this wait and the
// store.
bool program_run::touched(uint64_t offset) {
  for (unsigned spins = 0; file_.is_protected(offset);) core::spin_pause(spins);
  if (file_.placer.is_there(offset) || !kind_.pages) return true;
  if (file_.touch(offset)) return false;
  note("a page did not come");
  return true;
}

void program_run::perform(unsigned thread, const instruction& i) {
  view::flusher& by = flushers_[thread];
  view::file_view& v = *file_.v;
  switch (i.what) {
    case act::store:
    case act::nt_store:
      while (!touched(i.line * view::line_size)) {
      }
      reference_->store(i.line, i.word, ++value_);
      file_.store(i.line * view::line_size + 8 * i.word, value_);
      if (i.what == act::nt_store) flush(thread, i.line, 1);
      break;
    case act::let_go:
      // One at a time, as of one thread that does so.
      if (file_.protected_page == UINT64_MAX) file_.let_go(i.line * view::line_size);
      break;
    case act::flush: flush(thread, i.line, 1); break;
    case act::flush_many:
      // More than a list takes.
      flush(thread, kind_.lines, 40);
      for (uint64_t k = 0; k < 20; ++k) {
        perform(thread, {act::store, kind_.lines + k, 1});
      }
      flush(thread, kind_.lines, 20);
      break;
    case act::fence:
    case act::clflush:
      if (i.what == act::clflush) flush(thread, i.line, 1);
      if (!v.fence(by)) note("a fence failed");
      reference_->fence(thread, windows_[thread] == 0);
      deferred_[thread] = windows_[thread] != 0;
      break;
    case act::locked: reference_->fence(thread, false); break;
    case act::publish: published_.store(true); break;
    case act::await: {
      unsigned spins = 0;
      while (!published_.load()) core::spin_pause(spins);
      break;
    }
    case act::window_begin:
      v.window_begin(by);
      ++windows_[thread];
      break;
    case act::window_end:
      --windows_[thread];
      if (!v.window_end(by)) note("a fence failed");
      if (windows_[thread] == 0 && deferred_[thread]) {
        reference_->promise(thread);
        deferred_[thread] = false;
      }
      break;
    case act::sync: {
      const auto began = reference_->begin_sync();
      const uint64_t first = i.line, end = std::min(kind_.file_lines, first + 2);
      if (!v.write_back(&by, first * view::line_size, (end - first) * view::line_size,
                        view::write_reason::sync))
        note("a write-back failed");
      reference_->end_sync(began, first, end);
      break;
    }
  }
}

// Switch points are there in builds with planted bugs only (base/locks/waiting.hpp).
void program_run::set_hooks(bool waits, [[maybe_unused]] bool passes) {
  core::this_thread_waits = {};
  core::this_thread_waits.call = waits ? &wait_in : nullptr;
  core::this_thread_waits.arg = this;
#ifdef SCUTE_PLANTED_BUGS
  if (passes) core::this_thread_waits.pass = &pass_in;
#endif
}

void program_run::body(unsigned thread) {
  this_thread = thread;
  set_hooks(true, true);
  for (const instruction& i : program_[thread]) {
    if (!wrong_.empty() && i.what != act::publish) continue;
    // Not between the test of a line and its commit: that is the backing's to notice.
    if (kind_.damage && !inside_[1 - thread] && random_() % 3 == 0)
      file_.medium.damage((random_() % kind_.lines) * view::line_size + random_() % 64);
    inside_[thread] = true;
    perform(thread, i);
    inside_[thread] = false;
    // A handler's fence was made by the call that it had interrupted, and so are promised what it
    // had flushed.
    if (noted_[thread] && windows_[thread] == 0) {
      noted_[thread] = false;
      reference_->promise(thread);
    }
    if (!kind_.damage) verify("between instructions");
    die("between instructions");
    turns_.operation(true);
  }
}

void program_run::run() {
  file_.places = kind_.pages;
  view::file_view& v = file_.open();
  set_hooks(false, kind_.deaths);
  loading_ = alone_ = true;
  if (!kind_.pages && !v.load()) note("load failed");
  loading_ = alone_ = false;
  core::this_thread_waits = {};
  file_.medium.before = [&] {
    if (quiet_) return;
    die("before a decision");
    if (!kind_.damage) verify("before a decision");
  };
  file_.medium.after = [&] {
    if (quiet_) return;
    if (file_.medium.wrong != nullptr) note(file_.medium.wrong);
    if (kind_.damage) ++states_;
    if (!kind_.damage) verify("after a decision");
    die("after a decision");
    turns_.operation(true);
  };
  turns_.run({[&] { body(0); }, [&] { body(1); }}, order_, {});
  if (wrong_.empty()) {
    quiet_ = true;
    if (!v.write_back(nullptr, 0, v.size(), view::write_reason::end)) note("a write-back failed");
    if (kind_.pages && !v.load()) note("load failed");
    if (kind_.damage && !file_.medium.repair(0, v.size())) note("cannot be repaired");
    if (!file_.same()) note("after the end: the view and the medium differ");
    if (file_.medium.wrong != nullptr) note(file_.medium.wrong);
    ++states_;
  }
}

}  // namespace scute::view_tests
