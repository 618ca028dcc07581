// SPDX-License-Identifier: BSD-3-Clause
// Observes a view line by line: an audit that reports where in the program something came from. The
// view does not depend on it.
#pragma once

#include <cstdint>

#include "shield/view/flushed_contents.hpp"

namespace scute::core::view {

class line_watch {
 public:
  line_watch() = default;
  virtual ~line_watch() = default;
  line_watch(const line_watch&) = delete;
  line_watch& operator=(const line_watch&) = delete;

  // Called on the program's thread, also in handlers, so async-signal-safe. `again`: the line was
  // flushed before, and not committed since.
  virtual void flushed(uint64_t line, bool again) noexcept = 0;
  virtual void fenced(bool idle) noexcept = 0;
  // Where the view notes what lines held when they were flushed; null if no audit needs it. Always
  // returns the same.
  virtual flushed_contents* contents() noexcept { return nullptr; }

  // The four calls below come with the commit lock held, on the thread that commits: they must not
  // call the view.
  //
  // A commit set begins; nothing is copied yet.
  virtual void commit_set_begins() noexcept = 0;
  // The commit set has this line. `changed`: its copy differs from the medium. Each line once.
  virtual void commit_set_has(uint64_t line, bool changed) noexcept = 0;
  // The commit set with this line is decided.
  virtual void commit_set_decided(uint64_t line) noexcept = 0;
  // The commit set is about to be committed. Returns false to stop this one and all later ones
  // (VIEW-9).
  virtual bool may_commit() noexcept = 0;
};

}  // namespace scute::core::view
