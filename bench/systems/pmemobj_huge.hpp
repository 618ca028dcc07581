// SPDX-License-Identifier: BSD-3-Clause
// libpmemobj a second time, with its pool in huge pages. On a
// DAX file both libraries have pages of 2 MiB; on tmpfs Scute asks for them and libpmemobj does
// not. This one is asked for from outside, after the pool is made: what is left between it and
// Scute are the libraries.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace scute::bench {

inline constexpr const char* pmemobj_huge = "libpmemobj-huge";

struct no_huge_pages : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Makes all of a mapped tmpfs file huge pages, except a rest of less than 2 MiB at its end. Every
// page of the file is allocated; `at` is a multiple of 2 MiB. Throws no_huge_pages.
void make_huge(void* at, uint64_t n);

// Returns true if files in this folder get huge pages. The function tries it once. If they do not,
// it writes to standard error why, and that libpmemobj-huge is left out.
bool grants_huge_pages(const std::string& dir);

}  // namespace scute::bench
