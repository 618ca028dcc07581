// SPDX-License-Identifier: BSD-3-Clause
// Damage that a pool must survive in addition to a crash: to one of several replicas before
// recovery, or to one page after recovery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "scute/subject.hpp"

namespace scute::testing {

// Damages one copy of the superblock, one replica of one lane, one page of a log in chunks, or a
// part of one of these: one fault, not several. The number determines all of it. Empty if the image
// is of no pool.
injury injure_replica(std::span<const std::byte> image, uint64_t number);

// Damages a page, or a part of one, of a zone's data or parity.
injury injure_page(std::span<const std::byte> image, uint64_t number);

}  // namespace scute::testing
