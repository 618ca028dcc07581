// SPDX-License-Identifier: BSD-3-Clause
#include "pow_drill.hpp"

#include "escape.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>

namespace scute_demo {

namespace {

constexpr uint64_t page = 4096, segment_size = 256 * 1024, first_segment = 16384;

std::string line_of(const std::string& key, const std::string& value) {
  return scute_tools::escape(key) + '\t' + scute_tools::escape(value);
}

double fraction(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

pow_drill::pow_drill(pow_options options, const package_index& index, std::mt19937_64& random,
                     status_line& status)
    : options_(std::move(options)), index_(index), random_(random), status_(status) {}

command pow_drill::scute_pow(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {options_.program, "pow"});
  return arguments;
}

std::string pow_drill::output_of(const command& arguments, int expected) const {
  pipe_reader reader(arguments);
  std::string text = reader.read_all();
  if (const int status = reader.wait(); status != expected)
    throw std::runtime_error(fmt::format("`{}` ended with status {}; its output:\n{}",
                                         command_text(arguments), status, text));
  return text;
}

void pow_drill::write_source() {
  std::ofstream file(options_.folder + "/packages.tsv", std::ios::binary);
  for (const auto& [key, value] : index_.stanzas) file << line_of(key, value) << '\n';
  file.close();
  if (!file) throw std::runtime_error("the source cannot be written");
}

// Kills at random moments, further apart or closer as the load comes along too slowly or too fast,
// until all have happened and the source has been loaded at least once after the last one.
void pow_drill::load_under_fire(pow_results& r) {
  const uint64_t total = index_.stanzas.size();
  double mean_s = 0.02;
  bool restart = false;
  for (uint64_t tries = 0; r.kills < options_.kills || r.rounds == 0; ++tries) {
    if (tries > 20 * options_.kills + 20)
      throw std::runtime_error("the load ends too fast to be killed so often; try fewer --kills");
    command arguments =
        scute_pow({"kv", "load", path(), options_.folder + "/packages.tsv", "--create", "--medium",
                   options_.medium, "--max-size", std::to_string(options_.file_max), "--name",
                   "packages", "--batch", std::to_string(options_.batch), "--quiet"});
    if (restart) arguments.emplace_back("--restart");
    child loader(arguments, log_path());
    const bool kill_it = r.kills < options_.kills;
    if (kill_it) {
      const double delay_s = std::uniform_real_distribution<double>(0, 2 * mean_s)(random_);
      loader.wait_for(std::chrono::nanoseconds(static_cast<int64_t>(delay_s * 1e9)));
    }
    uint64_t loaded = total;
    if (kill_it && loader.kill()) {
      ++r.kills;
      if (r.rounds == 0) {
        loaded = 0;
        if (::access(path().c_str(), F_OK) == 0)
          loaded = nlohmann::json::parse(output_of(scute_pow({"kv", "count", path(), "--json"}), 0))
                       .at("records")
                       .get<uint64_t>();
        r.resumed += loaded != 0 && loaded != total;
        mean_s *= fraction(loaded, total) < fraction(r.kills, options_.kills + 1) ? 1.5 : 0.6;
      }
      restart = false;
    } else if (const int status = loader.wait(); status == 0) {
      ++r.rounds;
      mean_s *= 0.6;
      restart = true;
    } else {
      std::ifstream log(log_path());
      throw std::runtime_error(fmt::format("`{}` ended with status {}; its output:\n{}",
                                           command_text(arguments), status,
                                           std::string(std::istreambuf_iterator<char>(log), {})));
    }
    status_.show(
        "load", fraction(r.kills, options_.kills + 1),
        fmt::format("{} of {} kills, {} of {} records", r.kills, options_.kills, loaded, total));
  }
}

uint64_t pow_drill::differing(pow_results& r) {
  pipe_reader reader(scute_pow({"kv", "scan", path()}));
  auto expected = index_.stanzas.begin();
  std::string line;
  uint64_t bytes = 0;
  for (r.records = 0; reader.read_line(line); ++r.records) {
    const std::string wanted =
        expected == index_.stanzas.end() ? "" : line_of(expected->first, expected->second);
    const size_t common = std::min(line.size(), wanted.size());
    bytes += std::max(line.size(), wanted.size()) - common;
    for (size_t i = 0; i < common; ++i) bytes += line[i] != wanted[i] ? 1 : 0;
    if (expected != index_.stanzas.end()) ++expected;
  }
  for (; expected != index_.stanzas.end(); ++expected)
    bytes += expected->first.size() + expected->second.size();
  if (reader.wait() != 0) throw std::runtime_error("`scute pow kv scan` failed");
  r.differing_bytes += bytes;
  return bytes;
}

// One page of every segment is overwritten with noise, and two of the three head pages: all that
// protection `always` has to survive.
void pow_drill::damage(pow_results& r) {
  const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(path() + ": " + std::generic_category().message(errno));
  const auto size = static_cast<uint64_t>(::lseek(fd, 0, SEEK_END));
  std::vector<uint64_t> pages{0, 2};
  for (uint64_t at = first_segment; at + segment_size <= size; at += segment_size)
    pages.push_back(at / page + random_() % (segment_size / page));
  std::vector<uint64_t> noise(page / sizeof(uint64_t));
  for (const uint64_t p : pages) {
    for (uint64_t& word : noise) word = random_();
    if (::pwrite(fd, noise.data(), page, static_cast<off_t>(p * page)) !=
        static_cast<ssize_t>(page)) {
      ::close(fd);
      throw std::runtime_error("damaging the file failed");
    }
  }
  ::close(fd);
  r.pages_overwritten = pages.size();
}

std::string pow_drill::digest() {
  return nlohmann::json::parse(output_of(scute_pow({"verify", path(), "--json", "--quiet"}), 0))
      .at("digest")
      .get<std::string>();
}

pow_results pow_drill::run() {
  pow_results r;
  write_source();
  load_under_fire(r);
  status_.done("load", fmt::format("killed {} times, resumed {} times", r.kills, r.resumed));
  const auto compared = [&] {
    const uint64_t bytes = differing(r);
    status_.done("compare", fmt::format("{} records, {} bytes differ", r.records, bytes));
  };
  compared();
  const std::string before = digest();

  damage(r);
  status_.done("damage",
               fmt::format("{} pages: one of each segment, two of the head", r.pages_overwritten));
  const auto report = nlohmann::json::parse(
      output_of(scute_pow({"check", path(), "--repair", "--json", "--quiet"}), 2));
  r.found = report.at("damaged").get<uint64_t>();
  r.lost = report.at("lost").get<uint64_t>();
  output_of(scute_pow({"check", path(), "--quiet"}), 0);
  status_.done("repair",
               fmt::format("{} places, {} lost; a second check finds nothing", r.found, r.lost));
  compared();
  const std::string repaired = digest();

  const auto compaction =
      nlohmann::json::parse(output_of(scute_pow({"compact", path(), "--json", "--quiet"}), 0));
  r.size_before = compaction.at("size_before").get<uint64_t>();
  r.size_after = compaction.at("size_after").get<uint64_t>();
  status_.done("compact", fmt::format("{:.1f} MiB before, {:.1f} MiB now",
                                      static_cast<double>(r.size_before) / (1 << 20),
                                      static_cast<double>(r.size_after) / (1 << 20)));
  compared();
  r.digests_agree = before == repaired && repaired == digest();
  output_of(scute_pow({"check", path(), "--quiet"}), 0);
  r.clean = true;
  return r;
}

}  // namespace scute_demo
