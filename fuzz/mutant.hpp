// SPDX-License-Identifier: BSD-3-Clause
// A base image with an input's mutations made.
#pragma once

#include <set>

#include "base_image.hpp"
#include "program.hpp"

namespace scute::fuzz {

struct mutant {
  bytes content;
  // The facts that the oracle needs: whether nothing was resealed, and which pages were hit.
  bool plain = true;
  bool resized = false;
  bool status_hit = false;
  std::set<uint64_t> pages;
};

mutant mutate(const base_image& image, const std::vector<mutation>& mutations);

}  // namespace scute::fuzz
