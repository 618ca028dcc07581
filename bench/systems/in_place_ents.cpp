// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/persist.hpp"
#include "systems/ents_system.hpp"
#include "systems/warm_file.hpp"
#include "workloads/ents/work.hpp"
#include "workloads/level_hash/in_place_level_hash.hpp"

namespace scute::bench {
namespace {

namespace ents = workloads::ents;

class counting_medium {
 public:
  void flush(const void* p, size_t n) noexcept {
    const auto from = reinterpret_cast<uintptr_t>(p);
    lines_ += (from + n + 63) / 64 - from / 64;
    flush_(p, n);
  }
  void fence() noexcept {
    ++fences_;
    cpu_.fence();
  }
  uint64_t lines() const noexcept { return lines_; }
  uint64_t fences() const noexcept { return fences_; }

 private:
  const core::medium::persist_ops& cpu_ = core::medium::persist();
  void (*const flush_)(const void*, size_t) noexcept = floor_flush();
  uint64_t lines_ = 0, fences_ = 0;
};

class in_place_level final : public ents_system {
 public:
  using table = workloads::level::in_place_table<counting_medium>;

  in_place_level(const std::string& path, unsigned bits)
      : file_(path, (table::bytes_for(bits + 1) + 4095) & ~uint64_t{4095}),
        table_(file_.bytes(), medium_, bits) {}

  uint64_t run(unsigned, const ents::batch& requests) override {
    return ents::run_on_level(table_, std::get<std::vector<ents::entry_request>>(requests));
  }
  std::string check() override {
    uint64_t n = 0;
    table_.for_each([&](const auto&, const auto&) { ++n; });
    return n == table_.entries() ? "" : "another number of entries";
  }
  bool count(costs& out) override {
    out = {};
    out.fences = static_cast<double>(medium_.fences());
    out.lines = static_cast<double>(medium_.lines());
    out.bytes_data = out.lines * 64;
    return true;
  }

 private:
  warm_file file_;
  counting_medium medium_;
  table table_;
};

}  // namespace

std::unique_ptr<ents_system> make_in_place_ents(const ents_kind&, const ents_task& task) {
  return std::make_unique<in_place_level>(task.path, std::get<ents::level_task>(task.what).bits);
}

}  // namespace scute::bench
