// SPDX-License-Identifier: BSD-3-Clause
#include "drill.hpp"

#include "child.hpp"
#include "escape.hpp"

#include <scute/scute.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace scute_demo {

namespace {

constexpr uint64_t lost_pages_max = 32;
constexpr uint64_t flips_max = 48;

std::string line_of(const std::string& key, const std::string& value) {
  return scute_tools::escape(key) + '\t' + scute_tools::escape(value);
}

uint64_t differing_bytes(std::string_view a, std::string_view b) {
  const size_t common = std::min(a.size(), b.size());
  uint64_t differing = std::max(a.size(), b.size()) - common;
  for (size_t i = 0; i < common; ++i) differing += a[i] != b[i] ? 1 : 0;
  return differing;
}

double fraction(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

drill::drill(drill_options options, const package_index& index, std::mt19937_64& random,
             status_line& status)
    : options_(std::move(options)), index_(index), random_(random), status_(status) {}

command drill::scute_command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), options_.program);
  return arguments;
}

std::string drill::output_of_log() const {
  std::ifstream log(log_path());
  return {std::istreambuf_iterator<char>(log), {}};
}

void drill::must_succeed(const command& arguments) {
  const int status = run(arguments, log_path());
  if (status != 0)
    throw std::runtime_error(fmt::format("`{}` ended with status {}; its output:\n{}",
                                         command_text(arguments), status, output_of_log()));
}

void drill::write_source() {
  std::ofstream file(source_path(), std::ios::binary);
  for (const auto& [key, value] : index_.stanzas) file << line_of(key, value) << '\n';
  file.close();
  if (!file) throw std::runtime_error(source_path() + ": cannot write");
}

void drill::create_pool() {
  must_succeed(scute_command({"create", pool_path(), "--size", std::to_string(options_.pool_size),
                              "--medium", options_.medium, "--protection", "mlpc"}));
}

uint64_t drill::loaded_records() const {
  pipe_reader reader(scute_command({"kv", "count", pool_path(), "--json"}));
  const nlohmann::json count = nlohmann::json::parse(reader.read_all());
  reader.wait();
  return count.at("records").get<uint64_t>();
}

// Opens the pool as the next user would, which recovers it. A loader that was killed before it had
// opened the pool left nothing to recover.
void drill::recover(load_outcome& outcome) {
  scute::pool pool = scute::pool::open(pool_path());
  const scute::info info = pool.info();
  pool.close();
  if (info.clean != 0) return;
  outcome.completed += info.recovered;
  outcome.recovery_s.push_back(static_cast<double>(info.recovery_ns) / 1e9);
}

// Kills come at random moments. How long a loader may run on average follows from how far the load
// has come, so that the kills spread over all of it whatever the speed of the machine. Should the
// source be loaded before all kills have happened, it is loaded again on top.
load_outcome drill::load_under_fire() {
  load_outcome outcome;
  double mean_s = 0.01;
  uint64_t loaded = 0;
  bool restart = false;
  for (uint64_t attempts = 0; outcome.kills < options_.kills || outcome.rounds == 0; ++attempts) {
    if (attempts > 20 * options_.kills + 20)
      throw std::runtime_error("the load ends too fast to be killed so often; try fewer --kills");
    command arguments =
        scute_command({"kv", "load", pool_path(), source_path(), "--name", "packages", "--batch",
                       std::to_string(options_.batch), "--quiet"});
    if (restart) arguments.emplace_back("--restart");
    if (loaded > 0 && !restart) ++outcome.resumed;

    child loader(arguments, log_path());
    const bool kill_it = outcome.kills < options_.kills;
    if (kill_it) {
      const double delay_s = std::uniform_real_distribution<double>(0, 2 * mean_s)(random_);
      loader.wait_for(std::chrono::nanoseconds(static_cast<int64_t>(delay_s * 1e9)));
    }
    if (kill_it && loader.kill()) {
      ++outcome.kills;
      recover(outcome);
      if (outcome.rounds == 0) {
        loaded = loaded_records();
        const double wanted = fraction(outcome.kills, options_.kills + 1);
        mean_s *= fraction(loaded, index_.stanzas.size()) < wanted ? 1.5 : 0.6;
      }
      restart = false;
    } else if (loader.wait() == 0) {
      ++outcome.rounds;
      mean_s *= 0.6;
      loaded = 0;
      restart = true;
    } else {
      throw std::runtime_error(
          fmt::format("`{}` failed; its output:\n{}", command_text(arguments), output_of_log()));
    }
    status_.show(
        "load", fraction(outcome.kills, options_.kills + 1),
        fmt::format("{} of {} kills, {} of {} records", outcome.kills, options_.kills,
                    outcome.rounds > 0 ? index_.stanzas.size() : loaded, index_.stanzas.size()));
  }
  return outcome;
}

comparison drill::compare() {
  comparison result;
  pipe_reader reader(scute_command({"kv", "scan", pool_path()}));
  auto expected = index_.stanzas.begin();
  std::string line;
  while (reader.read_line(line)) {
    ++result.records;
    if (expected == index_.stanzas.end()) {
      result.differing_bytes += line.size();
      continue;
    }
    result.differing_bytes += differing_bytes(line, line_of(expected->first, expected->second));
    ++expected;
    status_.show("compare", fraction(result.records, index_.stanzas.size()),
                 fmt::format("{} records", result.records));
  }
  for (; expected != index_.stanzas.end(); ++expected)
    result.differing_bytes += expected->first.size() + expected->second.size();
  if (reader.wait() != 0) throw std::runtime_error("`scute kv scan` failed");
  return result;
}

std::map<injury_kind, uint64_t> drill::damage() {
  std::vector<injury> injuries;
  {
    scute::options readonly;
    readonly.readonly = true;
    const scute::pool pool = scute::pool::open(pool_path(), readonly);
    damage_plan plan(pool, random_);
    plan.add_superblock();
    plan.add_zone_header();
    plan.add_chunk_headers(4);
    plan.add_parity_page();
    // By turns, so that a small pool gets some of both.
    for (uint64_t i = 0; i < flips_max; ++i) {
      if (i < lost_pages_max) plan.add_lost_page();
      plan.add_flipped_bits();
    }
    injuries = plan.injuries();
  }
  inflict(pool_path(), injuries, random_);
  return by_kind(injuries);
}

repair_outcome drill::repair() {
  repair_outcome outcome;
  {
    scute::pool pool = scute::pool::open(pool_path());
    outcome.at_open = pool.info().repaired;
    const uint64_t repairs_before = pool.stats().repairs;
    for (const scute::ptr<void> object : pool.objects<>()) {
      const void* bytes = nullptr;
      scute::detail::check(scute_get_verified(pool.native_handle(), object.oid(), &bytes));
    }
    outcome.by_reads = pool.stats().repairs - repairs_before;
    pool.close();
  }
  pipe_reader repair(scute_command({"check", pool_path(), "--repair", "--json", "--quiet"}));
  const nlohmann::json report = nlohmann::json::parse(repair.read_all());
  repair.wait();
  outcome.by_check = report.at("repaired").get<uint64_t>();
  outcome.lost = report.at("lost").get<uint64_t>();

  pipe_reader again(scute_command({"check", pool_path(), "--json", "--quiet"}));
  again.read_all();
  outcome.clean = again.wait() == 0;
  return outcome;
}

}  // namespace scute_demo
