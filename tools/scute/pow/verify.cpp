// SPDX-License-Identifier: BSD-3-Clause
// verify.cpp: scute pow verify PATH: reads every object as a
// program would, and sums up what is there.
#include "command.hpp"
#include "failure.hpp"
#include "output.hpp"
#include "pow/objects.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <memory>

namespace scute_tool {

namespace {

struct pow_verify_arguments {
  std::string path;
  std::string expected;
  store_flags flags;
  bool json = false;
  bool quiet = false;
};

// FNV-1a.
class digest {
 public:
  void add(const void* p, size_t n) {
    for (const auto* b = static_cast<const unsigned char*>(p); n != 0; ++b, --n)
      x_ = (x_ ^ *b) * 0x100000001b3;
  }
  void add(uint64_t n) { add(&n, sizeof n); }
  uint64_t value() const { return x_; }

 private:
  uint64_t x_ = 0xcbf29ce484222325;
};

exit_code run_pow_verify(const pow_verify_arguments& args) {
  progress bar(args.quiet);
  store_file file(args.path, args.flags, store_file::how::read, &bar);
  digest all;
  json tables = json::array();
  table rows({{"table"}, {"objects", true}, {"bytes", true}, {"digest"}});
  uint64_t objects = 0, bytes = 0;
  for (const scute_pow_table_info& t : file.tables()) {
    digest one;
    uint64_t n = 0;
    for_each_object(file, t, [&](const object& o) {
      one.add(o.index());
      one.add(o.bytes.size());
      one.add(o.bytes.data(), o.bytes.size());
      bytes += o.bytes.size();
      if (++n % 1024 == 0) bar.update(fmt::format("reading {}", t.name), n, t.objects);
    });
    if (n != t.objects)
      throw failure(exit_lost, args.path,
                    fmt::format("table {} has {} objects, not {}", t.name, n, t.objects));
    objects += n;
    all.add(t.name, std::string(t.name).size());
    all.add(one.value());
    const std::string text = fmt::format("{:016x}", one.value());
    rows.add({t.name, count_text(n), count_text(t.bytes), text});
    tables.push_back({{"name", t.name}, {"objects", n}, {"bytes", t.bytes}, {"digest", text}});
  }
  bar.finish();
  const std::string text = fmt::format("{:016x}", all.value());
  const bool differs = !args.expected.empty() && args.expected != text;
  if (args.json) {
    print_json({{"path", args.path},
                {"objects", objects},
                {"bytes", bytes},
                {"digest", text},
                {"as_expected", args.expected.empty() ? json() : json(!differs)},
                {"tables", std::move(tables)}});
  } else {
    rows.print();
    fmt::print("{}{} objects, {} bytes, digest {}{}\n", rows.empty() ? "" : "\n",
               count_text(objects), count_text(bytes), text,
               differs ? fmt::format(", not {}", args.expected) : "");
  }
  return differs ? exit_lost : exit_ok;
}

}  // namespace

void add_pow_verify(CLI::App& pow, exit_code& status) {
  CLI::App* app = pow.add_subcommand(
      "verify", "Read every object as a program would, and print a digest of the content");
  auto args = std::make_shared<pow_verify_arguments>();
  add_pool_path(*app, args->path);
  app->add_option("--expect", args->expected, "the expected digest")->type_name("DIGEST");
  args->flags.add_salvage(*app);
  args->flags.add_to(*app, false);
  add_json_flag(*app, args->json);
  add_quiet_flag(*app, args->quiet);
  app->footer(
      "The digest is of tables, indexes and bytes of all objects, so it stays the same after "
      "a\ncrash, a repair, or `scute pow compact`.\nExit status 3: something is lost, or the "
      "digest differs.\n\nExamples:\n  scute pow verify notes.pow\n  scute pow verify notes.pow "
      "--expect 3f6c2b9d00a1e774");
  app->callback([args, &status] { status = run_pow_verify(*args); });
}

}  // namespace scute_tool
