// SPDX-License-Identifier: BSD-3-Clause
// Finds the pages of a file that the kernel knows to be bad: the bad-block list of the device under
// the file's file system, mapped to the file by its extents. libndctl reads the same list for
// namespaces with a file system. It is an attribute in sysfs (Documentation/ABI/stable/sysfs-block,
// "badblocks": a line "first-sector count" per range, in sectors of 512 bytes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scute::core::medium {

// File offsets of bad pages, ascending. Empty if the device has no list, the file system does not
// report extents, or nothing is bad. sysfs: its mount point.
std::vector<uint64_t> find_bad_pages(int fd, const std::string& sysfs = "/sys");

// A run of bytes: its offset on the device, and its offset in the file.
struct device_range {
  uint64_t device, file, length;
};

// The parts, for tests.
std::vector<device_range> parse_bad_blocks(const std::string& list);  // `file` is unused
std::vector<device_range> ranges_of(int fd);
std::vector<uint64_t> bad_pages_of(const std::vector<device_range>& bad,
                                   const std::vector<device_range>& extents);

}  // namespace scute::core::medium
