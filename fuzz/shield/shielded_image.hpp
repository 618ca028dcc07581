// SPDX-License-Identifier: BSD-3-Clause
// Shielded files as sessions have left them: FILE, FILE.scute, and what FILE is supposed to hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace scute::fuzz {

using bytes = std::vector<std::byte>;

bytes read_all(const std::string& path);
// The same file, with these bytes: its inode stays.
void write_all(const std::string& path, const bytes& content);

struct shielded_image {
  std::string name;
  std::string path;  // of FILE; the inode that the superblock knows
  bytes file, sidecar;
  bytes recorded;  // the content that the sidecar has checksums of, once it is recovered
  bool clean = true;
};

// Made at the first call, in a folder of their own, which goes when the process ends.
const std::vector<shielded_image>& shielded_images();

}  // namespace scute::fuzz
