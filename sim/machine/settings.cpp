// SPDX-License-Identifier: BSD-3-Clause
#include "machine/settings.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <variant>

namespace scute::sim {
namespace {

using field = std::variant<double settings::*, unsigned settings::*, bool settings::*>;

struct entry {
  const char* name;
  field at;
  const char* unit;
  double least, most;
  bool power_of_two = false;
};

const entry entries[] = {
    {"core.ghz", &settings::core_ghz, "GHz", 0.1, 16},
    {"core.count", &settings::cores, "", 1, 2},
    {"core.width", &settings::width, "", 1, 16},
    {"core.reorder", &settings::reorder, "", 8, 1024},
    {"core.store_buffer", &settings::store_buffer, "", 1, 256},
    {"core.fills", &settings::fills, "", 1, 64},
    {"core.mispredict", &settings::mispredict, "cycles", 0, 100},
    {"core.forward", &settings::forward, "cycles", 0, 100},
    {"core.forward_cold", &settings::forward_cold, "", 0, 1},
    {"core.prefetch", &settings::prefetch, "lines", 0, 32},
    {"core.lock", &settings::lock_cycles, "cycles", 0, 1000},
    {"core.fence_holds", &settings::fence_holds, "", 0, 1},
    {"core.write_back_holds", &settings::write_back_holds, "", 0, 1},
    {"tlb1.entries", &settings::tlb1, "", 1, 1U << 16},
    {"tlb1.ways", &settings::tlb1_ways, "", 1, 64},
    {"tlb2.entries", &settings::tlb2, "", 1, 1U << 20},
    {"tlb2.ways", &settings::tlb2_ways, "", 1, 64},
    {"tlb2.cycles", &settings::tlb2_cycles, "cycles", 0, 1000},
    {"tlb.walk", &settings::walk_cycles, "cycles", 0, 1000},
    {"l1.sets", &settings::l1_sets, "", 1, 1U << 16, true},
    {"l1.ways", &settings::l1_ways, "", 1, 32},
    {"l1.cycles", &settings::l1_cycles, "cycles", 1, 1000},
    {"l2.sets", &settings::l2_sets, "", 1, 1U << 20, true},
    {"l2.ways", &settings::l2_ways, "", 1, 64},
    {"l2.cycles", &settings::l2_cycles, "cycles", 1, 1000},
    {"l3.sets", &settings::l3_sets, "", 0, 1U << 20, true},
    {"l3.ways", &settings::l3_ways, "", 1, 64},
    {"l3.cycles", &settings::l3_cycles, "cycles", 1, 1000},
    {"dram.banks", &settings::dram_banks, "", 1, 1024},
    {"dram.row", &settings::dram_row, "bytes", 64, 1U << 20, true},
    {"dram.tRCD", &settings::dram_rcd, "ns", 0, 1e4},
    {"dram.tCL", &settings::dram_cl, "ns", 0, 1e4},
    {"dram.tRP", &settings::dram_rp, "ns", 0, 1e4},
    {"dram.tRAS", &settings::dram_ras, "ns", 0, 1e4},
    {"dram.tWR", &settings::dram_wr, "ns", 0, 1e4},
    {"dram.burst", &settings::dram_burst, "ns", 0.1, 1e4},
    {"dram.controller", &settings::dram_controller, "ns", 0, 1e4},
    {"pm.read", &settings::pm_read, "ns", 1, 1e6},
    {"pm.write", &settings::pm_write, "ns", 1, 1e6},
    {"pm.accept", &settings::pm_accept, "ns", 0, 1e6},
    {"pm.link", &settings::pm_link, "ns", 0, 1e6},
    {"pm.burst", &settings::pm_burst, "ns", 0, 1e4},
    {"pm.burst_write", &settings::pm_burst_write, "ns", 0, 1e4},
    {"pm.write_back", &settings::pm_write_back, "ns", 0, 1e6},
    {"pm.page", &settings::pm_page, "KiB", 4, 1U << 20, true},
    {"pm.banks", &settings::pm_banks, "", 1, 1024},
    {"pm.row", &settings::pm_row, "bytes", 64, 1U << 20, true},
    {"pm.queue", &settings::pm_queue, "bytes", 64, 1U << 20, true},
    {"pm.merge", &settings::pm_merge, "", 0, 1},
    {"scheme.hot", &settings::hot, "stores", 1, 7},
    {"scheme.epochs", &settings::epochs, "", 2, 8},
    {"scheme.epoch_records", &settings::epoch_records, "KiB", 1, 1e7},
    {"scheme.epoch_pages", &settings::epoch_pages, "pages", 1, 1e6},
    {"scheme.hoop_collect", &settings::hoop_collect, "KiB", 1, 1e7},
    {"scheme.undo_instructions", &settings::undo_instructions, "", 0, 1e6},
};

double to_number(const settings& s, const field& f) {
  return std::visit([&](auto at) { return static_cast<double>(s.*at); }, f);
}

std::string to_text(double v) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  return {text, end};
}

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

void set(settings& s, std::string_view name, std::string_view value) {
  const entry* found = nullptr;
  for (const entry& e : entries)
    if (name == e.name) found = &e;
  if (found == nullptr)
    throw std::invalid_argument("a machine has no number '" + std::string(name) + "'");
  double v = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), v);
  const std::string what = std::string(name) + " = " + std::string(value);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(v))
    throw std::invalid_argument(what + ": no number");
  if (v < found->least || v > found->most)
    throw std::invalid_argument(
        std::string(what).append(": must be ").append(to_text(found->least)) + " to " +
        to_text(found->most));
  const bool whole = !std::holds_alternative<double settings::*>(found->at);
  if (whole && v != std::floor(v)) throw std::invalid_argument(what + ": must be whole");
  if (found->power_of_two && v != 0 && !std::has_single_bit(static_cast<uint64_t>(v)))
    throw std::invalid_argument(what + ": must be a power of two");
  std::visit([&]<class T>(T settings::* at) { s.*at = static_cast<T>(v); }, found->at);
}

settings read_settings(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  settings s;
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::string_view text = trim(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const auto equals = text.find('=');
    const auto fail = [&](const std::string& why) {
      throw std::runtime_error(std::string(path).append(":").append(std::to_string(number)) + ": " +
                               why);
    };
    if (equals == std::string_view::npos) fail("neither a comment nor 'name = value'");
    try {
      set(s, trim(text.substr(0, equals)), trim(text.substr(equals + 1)));
    } catch (const std::invalid_argument& e) {
      fail(e.what());
    }
  }
  return s;
}

std::vector<setting> list(const settings& s) {
  std::vector<setting> all;
  for (const entry& e : entries) all.push_back({e.name, to_text(to_number(s, e.at)), e.unit});
  return all;
}

}  // namespace scute::sim
