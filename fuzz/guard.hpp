// SPDX-License-Identifier: BSD-3-Clause
// Keeps the input in memory while it runs, and saves it to a file when the process dies of it: by
// an assertion, a signal, a sanitizer or a timeout.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace scute::fuzz {

// repeat: the command that runs a saved file again, without the file's name.
void guard_install(const std::string& folder, const std::string& repeat, unsigned timeout_s);
// note: what else is to be printed about a failure, such as the seed. Both stay valid until the
// next call.
void guard_begin(std::span<const uint8_t> input, const char* note) noexcept;
void guard_end() noexcept;

}  // namespace scute::fuzz
