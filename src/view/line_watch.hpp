// SPDX-License-Identifier: BSD-3-Clause
// Who looks on while a view works, line by line: an audit that says where in the program something
// came from. Nothing of the view rests on it.
#pragma once

#include <cstdint>

#include "view/flushed_contents.hpp"

namespace scute::core::view {

class line_watch {
 public:
  line_watch() = default;
  virtual ~line_watch() = default;
  line_watch(const line_watch&) = delete;
  line_watch& operator=(const line_watch&) = delete;

  // On the program's thread, in handlers as well, so async-signal-safe. `again`: it was flushed
  // before, and not committed since.
  virtual void flushed(uint64_t line, bool again) noexcept = 0;
  virtual void fenced(bool idle) noexcept = 0;
  // Where the view notes what lines held when they were flushed; null: nobody asks. Always the
  // same.
  virtual flushed_contents* contents() noexcept { return nullptr; }

  // With the commit lock held, these four, on the thread that commits: may not call the view. A
  // commit set begins; nothing is copied yet.
  virtual void commit_set_begins() noexcept = 0;
  // It has this line, and its copy is not what the medium has, or is. Each line once.
  virtual void commit_set_has(uint64_t line, bool changed) noexcept = 0;
  // The commit set with this line is decided.
  virtual void commit_set_decided(uint64_t line) noexcept = 0;
  // The commit set is to be committed. False: neither this one nor a later one is (VIEW-9).
  virtual bool may_commit() noexcept = 0;
};

}  // namespace scute::core::view
