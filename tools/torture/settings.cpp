// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <fmt/format.h>

namespace scute_torture {

std::string settings::command() const {
  std::string text =
      fmt::format("scute-torture --seed {} --threads {} --workload {}", seed, threads, workload);
  text += fmt::format(" --medium {} --protection {} --engine {} --size {}", medium, protection,
                      engine, size);
  if (lanes != 0) text += fmt::format(" --lanes {}", lanes);
  if (parity != 0) text += fmt::format(" --parity {}", parity);
  if (chunk_size != 0) text += fmt::format(" --chunk-size {}", chunk_size);
  if (!dir.empty()) text += fmt::format(" --dir {}", dir);
  if (kills != 0) text += fmt::format(" --kills {}", kills);
  if (seconds != 0) text += fmt::format(" --seconds {}", seconds);
  if (!drill.empty()) text += fmt::format(" --drill {}", drill);
  return text;
}

}  // namespace scute_torture
