// SPDX-License-Identifier: BSD-3-Clause
// Changes an input command by command, which bytewise mutation rarely manages to do.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace scute::fuzz {

using input = std::vector<uint8_t>;

// On a random image, one to three structures each get a field that is near some boundary, mostly
// with the checksum made right. These inputs reach the code that runs after the checksums' tests.
input fresh_input(std::mt19937_64& random);

// One to four changes.
void mutate_input(input& in, std::mt19937_64& random);

}  // namespace scute::fuzz
