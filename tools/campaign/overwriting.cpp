// SPDX-License-Identifier: BSD-3-Clause
#include "overwriting.hpp"

#include "check_call.hpp"
#include "dice.hpp"
#include "image.hpp"
#include "progress_line.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace scute_campaign {

using namespace scute_tools;

namespace {

constexpr uint64_t page = 4096;

class overwriting {
 public:
  overwriting(image& of, const overwriting_settings& how, uint32_t parity)
      : image_(of), how_(how), l_(of.where()), parity_(parity) {
    for (size_t i = 0; i < l_.objects.size(); ++i) order_.push_back(i);
  }

  // The deviation; empty if there was none.
  std::string run(shape where, unsigned number) {
    dice random(mix(mix(how_.how.seed, static_cast<uint64_t>(where)), mix(parity_, number)));
    image_.restore();
    overwrite(where, random);
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    const auto who = static_cast<looker>(number % (how_.kills ? 6 : 5));
    try {
      return look(who, random);
    } catch (const std::exception& e) {
      return fmt::format("{}: {}", looker_names[static_cast<size_t>(who)], e.what());
    }
  }

 private:
  // The drill greedy: one more than there are parities.
  uint32_t cells() const { return parity_ + (how_.how.spoil == drill::greedy ? 1 : 0); }

  void noise(uint64_t row, uint64_t column, uint64_t length, dice& random) {
    fill(image_.bytes() + l_.zone + row * l_.row_size + column, random.word(), length);
  }

  // Different rows, or parities. first: one of them, if it is a row.
  std::vector<uint64_t> draw(dice& random, uint64_t first) const {
    std::vector<uint64_t> drawn;
    if (first < l_.rows) drawn.push_back(first);
    while (drawn.size() < cells()) {
      const uint64_t row = random.below(l_.rows + l_.parity);
      if (std::find(drawn.begin(), drawn.end(), row) == drawn.end()) drawn.push_back(row);
    }
    return drawn;
  }

  void overwrite(shape where, dice& random) {
    const uint64_t blocks = l_.row_size / page;
    const auto column = [&](uint64_t block, uint64_t first) {
      for (const uint64_t row : draw(random, first)) noise(row, block * page, page, random);
    };
    switch (where) {
      case shape::pages: return column(random.below(blocks), UINT64_MAX);
      case shape::table: return column(random.below(2), 0);
      case shape::columns:
        for (uint64_t block = 0; block < blocks; ++block) column(block, UINT64_MAX);
        return;
      case shape::rows:
        for (const uint64_t row : draw(random, UINT64_MAX)) noise(row, 0, l_.row_size, random);
        return;
    }
  }

  // A child reads all objects, and is killed meanwhile.
  void cut_repair_short(dice& random) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      scute_pool* pool = nullptr;
      const void* at = nullptr;
      if (scute_open(image_.path().c_str(), nullptr, &pool) == SCUTE_OK)
        for (const size_t i : order_) scute_get_verified(pool, l_.objects[i].oid, &at);
      _exit(0);
    }
    usleep(static_cast<useconds_t>(random.below(20'000)));
    kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }

  std::string look(looker who, dice& random) {
    if (who == looker::killed) cut_repair_short(random);
    scute_options options;
    scute_options_init(&options);
    if (who == looker::read_only) options.flags = SCUTE_READONLY;
    scute_pool* pool = nullptr;
    need(scute_open(image_.path().c_str(), &options, &pool));
    std::string wrong;
    const auto note_losses = [&](const char* what, const scute_report& r) {
      if (wrong.empty() && r.lost != 0) wrong = fmt::format("{} reports {} losses", what, r.lost);
    };
    try {
      scute_report r = sized<scute_report>();
      if (who == looker::check) need(scute_check(pool, 1, &r, nullptr, nullptr, nullptr));
      if (who == looker::scrub) need(scute_scrub(pool, nullptr, &r));
      note_losses(looker_names[static_cast<size_t>(who)], r);
      read(pool, who == looker::opener, wrong);
      if (who != looker::read_only) {
        need(scute_check(pool, 1, &r, nullptr, nullptr, nullptr));
        note_losses("the check afterwards", r);
        need(scute_check(pool, 0, &r, nullptr, nullptr, nullptr));
        if (wrong.empty() && r.damaged != 0)
          wrong = fmt::format("{} places are damaged after a repair", r.damaged);
        read(pool, false, wrong);
      }
    } catch (...) {
      scute_close(pool);
      throw;
    }
    need(scute_close(pool));
    if (wrong.empty()) return wrong;
    return fmt::format("{}: {}", looker_names[static_cast<size_t>(who)], wrong);
  }

  void read(scute_pool* pool, bool open, std::string& wrong) {
    for (const size_t i : order_) {
      const object& o = l_.objects[i];
      const void* at = nullptr;
      scute_tx* tx = nullptr;
      void* to = nullptr;
      int code = SCUTE_OK;
      if (open) {
        need(scute_tx_begin(pool, &tx));
        code = scute_tx_open(tx, o.oid, &to);
        at = to;
      } else {
        code = scute_get_verified(pool, o.oid, &at);
      }
      if (code != SCUTE_OK) {
        if (wrong.empty())
          wrong = fmt::format("object at {:#x}, {} bytes: {}: {}", o.payload, o.size,
                              scute_errorname(code), scute_errormsg());
      } else if (std::memcmp(at, image_.original() + o.payload, o.size) != 0 ||
                 (how_.how.spoil == drill::silent && i == 0)) {
        wrong = fmt::format("object at {:#x}, {} bytes: reads wrong bytes without an error",
                            o.payload, o.size);
      }
      if (tx != nullptr) scute_tx_abort(tx);
    }
  }

  image& image_;
  const overwriting_settings& how_;
  const layout& l_;
  const uint32_t parity_;
  std::vector<size_t> order_;
};

}  // namespace

uint64_t run_overwriting(const overwriting_settings& how) {
  uint64_t broken = 0;
  progress_line line(how.how.quiet);
  fmt::print("{:>2} {:>4}  {:<8} {:>7} {:>8} {:>7}\n", "P", "N", "shape", "trials", "objects",
             "failed");
  const auto kinds = static_cast<double>(how.parities.size() * how.rows.size());
  double done = 0;
  for (const uint32_t parity : how.parities)
    for (const uint32_t rows : how.rows) {
      settings one = how.how;
      one.kind.engine = SCUTE_ENGINE_LOGFREE;
      one.kind.parity = parity;
      one.full = true;
      image made(one, SCUTE_PROTECT_MLPC, rows);
      overwriting o(made, how, parity);
      for (const shape where : how.shapes) {
        const char* name = shape_names[static_cast<size_t>(where)];
        uint64_t failed = 0;
        std::string first;
        const unsigned from = one.trial >= 0 ? static_cast<unsigned>(one.trial) : 0;
        const unsigned to = one.trial >= 0 ? from + 1 : one.trials;
        for (unsigned k = from; k < to; ++k) {
          line.show(done / kinds, fmt::format("P {}, N {}, {}, trial {}", parity, rows, name, k));
          const std::string wrong = o.run(where, k);
          if (wrong.empty()) continue;
          if (failed++ == 0)
            first = fmt::format(
                "  trial {}: {}\n  repeat: ./dev explore --campaign overwrite --seed {} --size {} "
                "--parity {} --rows {} --shapes {} --chunk-size {} --trial {}{}\n",
                k, wrong, one.seed, one.size, parity, rows, name, one.kind.chunk_size, k,
                how.kills ? "" : " --no-kills");
        }
        line.clear();
        fmt::print("{:>2} {:>4}  {:<8} {:>7} {:>8} {:>7}\n{}", parity, rows, name, to - from,
                   made.where().objects.size(), failed, first);
        std::fflush(stdout);
        broken += failed;
      }
      done += 1;
    }
  return broken;
}

}  // namespace scute_campaign
