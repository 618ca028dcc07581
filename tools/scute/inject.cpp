// SPDX-License-Identifier: BSD-3-Clause
// inject.cpp: scute inject PATH: damage on purpose, for drills.
#include "command.hpp"
#include "failure.hpp"
#include "numbers.hpp"
#include "open_pool.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
// The pool is never closed (below), so threads of the library's own have no end.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}
#endif

namespace scute_tool {

namespace {

constexpr std::array<std::pair<const char*, scute_injury>, 3> kinds{
    {{"lose-page", SCUTE_INJURE_LOSE_PAGE},
     {"flip", SCUTE_INJURE_FLIP},
     {"scribble", SCUTE_INJURE_SCRIBBLE}}};

constexpr scute_region regions[] = {
    SCUTE_REGION_SUPERBLOCK, SCUTE_REGION_LANE, SCUTE_REGION_ZONE_HEADER, SCUTE_REGION_CHUNK_HEADER,
    SCUTE_REGION_OBJECT,     SCUTE_REGION_FREE, SCUTE_REGION_LOG,         SCUTE_REGION_PARITY,
    SCUTE_REGION_PADDING,    SCUTE_REGION_NOTES};

struct inject_arguments {
  std::string path;
  pool_options options;
  std::string kind;
  std::string region = "any";
  uint64_t offset = SCUTE_ANYWHERE;
  uint64_t count = 1;
  double rate = 0;
  uint32_t bits = 1;
  uint64_t length = 64;
  uint64_t seed = 1;
  bool by_rate = false;
  bool json = false;
};

struct injury {
  uint64_t offset, length;
  scute_region region, last_region;  // of its first byte and of its last one

  std::string where() const {
    return region == last_region ? name_of(region)
                                 : fmt::format("{} to {}", name_of(region), name_of(last_region));
  }
  // Bytes that no check reads: a drill that hits nothing else shows nothing.
  bool in_no_use() const {
    const auto unused = [](scute_region r) {
      return r == SCUTE_REGION_FREE || r == SCUTE_REGION_PADDING;
    };
    return unused(region) && unused(last_region);
  }
};

std::vector<std::string> damage_kinds() {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.first);
  return names;
}

std::vector<std::string> region_names() {
  std::vector<std::string> names{"any"};
  for (const scute_region r : regions) names.emplace_back(name_of(r));
  return names;
}

scute::injection plan(const inject_arguments& args) {
  scute::injection what;
  for (const auto& [name, kind] : kinds)
    if (args.kind == name) what.kind = kind;
  for (const scute_region r : regions)
    if (args.region == name_of(r)) what.region = r;
  what.offset = args.offset;
  what.count = args.by_rate ? 0 : args.count;
  what.rate = args.rate;
  what.bits = args.bits;
  what.length = args.length;
  what.seed = args.seed;
  return what;
}

scute_region region_at(const open_pool& pool, uint64_t offset) {
  scute_location at{};
  at.struct_size = sizeof at;
  check(scute_locate(pool, offset, &at), pool.path());
  return at.region;
}

void run_inject(const inject_arguments& args) {
  // Closing would write the superblocks and tidy up; a crash does not, and nor does this process's
  // end. So the pool is never closed.
  scute::options options = args.options.resolve();
  options.lazy_recovery = true;  // a scan could repair what has just been injured
  static open_pool* const pool = new open_pool(args.path, options, open_pool::how::open_to_write);
  std::vector<injury> done;
  try {
    working_on(args.path, [&] {
      pool->pool().inject(plan(args), [&](uint64_t offset, uint64_t length) {
        done.push_back(
            {offset, length, region_at(*pool, offset), region_at(*pool, offset + length - 1)});
      });
    });
    if (done.empty())
      throw failure(exit_error, args.path,
                    "nothing was injured: at this --rate no bit of the region is hit with this "
                    "--seed; choose a higher rate, another seed, or --count");
  } catch (const failure&) {
    if (done.empty()) pool->close();  // nothing has happened, and nothing looks as if it had
    throw;
  }
  if (args.json) {
    json list = json::array();
    for (const injury& i : done)
      list.push_back({{"offset", i.offset},
                      {"length", i.length},
                      {"region", name_of(i.region)},
                      {"last_region", name_of(i.last_region)}});
    print_json({{"path", args.path},
                {"kind", args.kind},
                {"seed", args.seed},
                {"injuries", std::move(list)}});
    return;
  }
  for (const injury& i : done)
    fmt::print("{} at {:#x}, {} bytes, {}\n", args.kind, i.offset, i.length, i.where());
  fmt::print("{} {}\n", count_text(done.size()), done.size() == 1 ? "injury" : "injuries");
  if (args.kind != "lose-page" && std::ranges::all_of(done, &injury::in_no_use))
    fmt::print("no injured byte is in use; --region object damages data\n");
}

}  // namespace

void add_inject(CLI::App& root, exit_code&) {
  CLI::App* app = root.add_subcommand("inject", "Damage a pool on purpose, for drills");
  auto args = std::make_shared<inject_arguments>();
  add_pool_path(*app, args->path);
  app->add_option("--kind", args->kind, "what happens")
      ->required()
      ->check(one_of(damage_kinds()))
      ->type_name("lose-page|flip|scribble");
  app->add_option("--region", args->region, "where (default any)")
      ->check(one_of(region_names()))
      ->type_name(fmt::format("{}", fmt::join(region_names(), "|")));
  auto* offset =
      app->add_option("--offset", args->offset, "damage exactly this offset of the file");
  offset->transform(file_offset())->type_name("X")->excludes("--region");
  auto* count = app->add_option("--count", args->count, "how many (default 1)");
  count->transform(whole_number(1))->type_name("N")->excludes(offset);
  auto* rate = app->add_option(
      "--rate", args->rate, "probability that each bit of the region is hit, instead of --count");
  rate->check(fraction())->type_name("R")->excludes(count)->excludes(offset);
  app->add_option("--bits", args->bits, "width of a flip (default 1)")
      ->check(one_of({"1", "8", "16", "32", "64"}))
      ->type_name("1|8|16|32|64");
  app->add_option("--length", args->length, "bytes of a scribble: 64, 100K (default 64)")
      ->transform(size_value())
      ->type_name("SIZE");
  app->add_option("--seed", args->seed, "the same seed hits the same places (default 1)")
      ->transform(whole_number())
      ->type_name("S");
  args->options.add_to(*app, pool_options::use::open);
  add_json_flag(*app, args->json);
  app->footer(
      "WARNING: this damages the data in the pool. Damage beyond the redundancy is permanent:\n"
      "use it on a copy. The pool is left as a crash would leave it.\n"
      "\nExamples:\n"
      "  scute inject copy.pool --kind lose-page --region object\n"
      "  scute inject copy.pool --kind flip --rate 1e-6 --bits 8 --seed 7\n"
      "  scute inject copy.pool --kind scribble --offset 0x14000 --length 4096");
  app->callback([args, rate] {
    args->by_rate = rate->count() > 0;
    run_inject(*args);
  });
}

}  // namespace scute_tool
