// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <fmt/format.h>

namespace scute_campaign {

std::string cell::name() const {
  return fmt::format("{}/N{}/{}bit/{:.0e}", level_names[static_cast<size_t>(level)], rows, bits,
                     rate);
}

std::string variant::arguments() const {
  std::string text;
  if (engine != SCUTE_ENGINE_AUTO)
    text += engine == SCUTE_ENGINE_REDO   ? " --engine redo"
            : engine == SCUTE_ENGINE_SPEC ? " --engine spec"
                                          : " --engine logfree";
  if (parity != 0) text += fmt::format(" --parity {}", parity);
  if (chunk_size != 0) text += fmt::format(" --chunk-size {}", chunk_size);
  return text;
}

std::string repeat_command(const settings& how, const cell& where, unsigned trial) {
  return fmt::format("./dev explore --campaign rest{}{} --seed {} --size {} --only {} --trial {}",
                     how.shielded ? " --shielded" : "", how.kind.arguments(), how.seed, how.size,
                     where.name(), trial);
}

}  // namespace scute_campaign
