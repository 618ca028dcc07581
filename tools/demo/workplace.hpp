// SPDX-License-Identifier: BSD-3-Clause
// workplace.hpp: where the demo finds the command and puts its files.
#pragma once

#include <cstdint>
#include <string>

namespace scute_demo {

// SCUTE_EXE, else the `scute` of the same build. Throws std::runtime_error.
std::string scute_command();

// A folder of the demo's own, removed in the end.
class workplace {
 public:
  // In `parent`; or, if that is empty, in /dev/shm unless `medium` is "file" or there is not enough
  // room, else next to this program or in the current folder. Throws std::runtime_error.
  workplace(const std::string& parent, const std::string& medium, uint64_t bytes, bool keep);
  ~workplace();
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;

  const std::string& folder() const { return folder_; }
  bool in_memory() const { return in_memory_; }  // on tmpfs

 private:
  std::string folder_;
  bool keep_;
  bool in_memory_ = false;
};

}  // namespace scute_demo
