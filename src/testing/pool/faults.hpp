// SPDX-License-Identifier: BSD-3-Clause
// Damage that a pool must survive, on top of a crash: to one of several replicas before recovery,
// or to one page once recovery is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "scute/subject.hpp"

namespace scute::testing {

// One copy of the superblock, or one replica of one lane, or one page of a log in chunks, or a part
// of it: one fault, not several.
// Everything in it follows from the number. Nothing if the image is not of a pool.
injury injure_replica(std::span<const std::byte> image, uint64_t number);

// A page, or part of one, of a zone's data or parity.
injury injure_page(std::span<const std::byte> image, uint64_t number);

}  // namespace scute::testing
