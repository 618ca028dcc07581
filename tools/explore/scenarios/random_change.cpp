// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios/random_change.hpp"

#include <random>

namespace scute::explore {
namespace {

uint64_t random_size(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0: return 1 + random() % 32;
    case 1: return 4000 + random() % 300;
    case 2: return 8000 + random() % 2000;
    case 3: return random() % 4 == 0 ? 17000 + random() % 20000 : 1 + random() % 3000;
    default: return 1 + random() % 1000;
  }
}

}  // namespace

void change_at_random(scute::pool& p, unsigned thread, uint64_t number) {
  std::mt19937_64 random(number);
  change c(p, thread);
  bool touched[slots] = {};  // an object in an in-place range cannot be freed, or opened otherwise
  const unsigned operations = random() % 3 == 0 ? 1 + static_cast<unsigned>(random() % 6) : 1;
  for (unsigned i = 0; i < operations; ++i) {
    const uint64_t slot = random() % slots;
    const auto fill = static_cast<unsigned>(random());
    const unsigned what = static_cast<unsigned>(random() % 10);
    if (touched[slot]) continue;
    if (!c.has(slot)) {
      c.alloc(slot, random_size(random), fill);
      touched[slot] = true;
      continue;
    }
    const uint64_t n = c.size(slot);
    const uint64_t at = random() % n;
    const uint64_t length = 1 + random() % (n - at);
    if (what < 3) {
      c.free(slot);
      touched[slot] = true;
    } else if (what < 5) {
      c.overwrite(slot, fill);
    } else if (what < 8) {
      c.edit(slot, at, length, fill);
    } else {
      c.edit_in_place(slot, at, length, fill);
      touched[slot] = true;
    }
  }
  if (random() % 8 == 0)
    c.abort();
  else
    c.commit();
}

}  // namespace scute::explore
