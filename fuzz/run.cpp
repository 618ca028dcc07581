// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <unistd.h>

#include <memory>

#include "conditions.hpp"
#include "mutant.hpp"
#include "session.hpp"

namespace scute::fuzz {
namespace {

// The demands on the objects of a mutant. One row of parity and second copies of everything
// else repair one page. An unclean pool is promised less: recovery takes every cell of the columns
// it recomputes for right, so damage there is found, but may be beyond repair. Status words have 16
// bits of check only, so damage can pass for one; that is not counted against the library.
expectation expected(const base_image& image, const mutant& m) {
  if (!image.is_checked || !m.plain || m.resized) return expectation::nothing;
  if (image.clean) return m.pages.size() <= 1 ? expectation::all_there : expectation::no_lies;
  if (m.pages.empty()) return expectation::all_there;
  // Crash and damage in one column of a log-free pool: what a torn or damaged member says of its
  // transaction is what is left of it, and may be the version before.
  for (const uint64_t page : m.pages)
    if (image.open_pages.count(page) != 0) return expectation::nothing;
  // One copy of the log is enough.
  if (m.pages.size() == 1 && image.log_pages.count(*m.pages.begin()) != 0)
    return expectation::all_there;
  return m.pages.size() == 1 && !m.status_hit ? expectation::no_lies : expectation::nothing;
}

class runner {
 public:
  explicit runner(const program& p)
      : p_(p), image_(base_images()[p.image % base_images().size()]) {}

  void run() {
    mutant m = mutate(image_, p_.mutations);
    expect_ = expected(image_, m);
    if (planted != plant::nothing) misbehave(m);
    file().load(m.content);
    open((p_.flags & open_read_only) != 0,
         (p_.flags & crash_first) != 0 ? uint64_t{p_.crash_fence} + 1 : 0);
    // A crash during the opening changes nothing of what must be there (POOL-7).
    if (now_ != nullptr && now_->crashed()) resume();
    if (now_ != nullptr) now_->compare(expect_);
    for (const action& a : p_.actions) {
      if (now_ == nullptr) return;
      step(a);
    }
    if (now_ == nullptr) return;
    now_->exercise();
    if (now_->crashed())
      resume();
    else
      reopen();
    if (now_ == nullptr) return;
    now_->revisit();
    reopen();
  }

 private:
  static ram_file& file() {
    static ram_file one;
    return one;
  }

  void misbehave(mutant& m) {
    if (planted == plant::lie) {
      const mutation silent{place_kind::payload, true, 1, 0, 0, 0, operation::flip, 3};
      std::vector<mutation> more = p_.mutations;
      more.push_back(silent);
      m = mutate(image_, more);
    }
    if (planted == plant::crash) *(file().base() + file_size_max) = std::byte{1};
    // ThreadSanitizer puts signals off until a thread waits.
    for (volatile bool on = true; on && planted == plant::hang;) ::usleep(1000);
  }

  void open(bool read_only, uint64_t crash_fence) {
    now_ = std::make_unique<session>(file(), image_, read_only, crash_fence);
    if (now_->refused()) now_.reset();
  }

  // A pool that was closed properly opens again: whatever was wrong with it did not prevent that
  // the first time.
  void reopen() {
    const bool clean = now_->close();
    open(false, 0);
    if (clean && now_ == nullptr) breach("a pool that was closed properly cannot be opened");
  }

  // Continues with the content that the crash left.
  void resume() {
    const bytes left = std::move(now_->after_crash());
    now_.reset();
    file().load(left);
    open(false, 0);
  }

  void step(const action& a) {
    if (a.what == action_kind::reopen) {
      reopen();
    } else if (a.what == action_kind::crash) {
      const bytes left = file().content();
      now_.reset();
      file().load(left);
      open(false, 0);
    } else {
      now_->run(a);
      if (now_->crashed()) resume();
    }
  }

  const program& p_;
  const base_image& image_;
  expectation expect_ = expectation::nothing;
  std::unique_ptr<session> now_;
};

}  // namespace

void run(std::span<const uint8_t> input) {
  const program p = decode(input);
  runner(p).run();
}

}  // namespace scute::fuzz
