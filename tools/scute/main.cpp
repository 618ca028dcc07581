// SPDX-License-Identifier: BSD-3-Clause
// main.cpp: the `scute` command: parses, runs one subcommand, turns failures into one line on
// stderr and an exit status.
#include "command.hpp"
#include "failure.hpp"
#include "standard_streams.hpp"

#include <scute/scute.h>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace scute_tool;

// Under `scute shield run` this command is none of the programs that are to be shielded: it opens
// files, and what protects them, as they are.
void leave_the_shield(char** argv) {
  constexpr char mark[] = "SCUTE_SHIELD_LEFT";
  const bool has_left = std::getenv(mark) != nullptr;  // and it is loaded in some other way
  ::unsetenv(mark);
  if (has_left || ::dlsym(RTLD_DEFAULT, "scute_shield_hooks_get") == nullptr) return;
  std::string others;
  const char* const preloaded = std::getenv("LD_PRELOAD");
  for (const auto part : std::views::split(std::string_view(preloaded ? preloaded : ""), ':')) {
    const std::string_view library(part.begin(), part.end());
    if (library.empty() || library.ends_with("/libscute-shield.so")) continue;
    if (!others.empty()) others += ':';
    others += library;
  }
  if (others.empty())
    ::unsetenv("LD_PRELOAD");
  else
    ::setenv("LD_PRELOAD", others.c_str(), 1);
  ::setenv(mark, "1", 1);
  std::error_code none;
  ::execv(std::filesystem::read_symlink("/proc/self/exe", none).c_str(), argv);
  ::unsetenv(mark);
}

std::string exit_code_help() {
  std::string text = "Exit status:\n";
  for (const exit_code_text& row : exit_code_table)
    text += fmt::format("  {:>3}  {}\n", static_cast<int>(row.code), row.meaning);
  text +=
      "\nExamples:\n"
      "  scute create /dev/shm/notes.pool --size 64M\n"
      "  scute kv put /dev/shm/notes.pool milk \"2 litres\"\n"
      "  scute kv scan /dev/shm/notes.pool\n"
      "  scute check /dev/shm/notes.pool --repair\n"
      "\nEvery option of a pool can also come from the environment: SCUTE_SIZE=1G, "
      "SCUTE_MEDIUM=file.\nThe manual is scute(1).";
  return text;
}

// The innermost subcommand on the command line: "scute kv put".
std::string command_name(const CLI::App& app, std::string name) {
  for (const CLI::App* sub : app.get_subcommands())
    return command_name(*sub, name + " " + sub->get_name());
  return name;
}

// The word that stands where a command was expected: in `scute bogus`, and in `scute kv bogus`.
std::string unknown_command(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) return unknown_command(*sub);
  if (app.get_require_subcommand_min() == 0) return {};
  for (const std::string& word : app.remaining())
    if (!word.starts_with('-')) return word;
  return {};
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string name = command_name(app, "scute");
  const std::string word = unknown_command(app);
  std::string why = word.empty() ? error.what() : fmt::format("there is no command \"{}\"", word);
  // In the order in which they were given; what() has them the other way round. The value of an
  // unknown option is taken for an argument, of which CLI11 complains first.
  const std::vector<std::string> extra = app.remaining(true);
  const bool is_of_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                           std::ranges::any_of(extra, [](std::string_view x) {
                             return x.size() > 1 && x[0] == '-' && x != "--";
                           });
  if (word.empty() && !extra.empty() && is_of_extra)
    why = fmt::format("not expected here: {}", fmt::join(extra, " "));
  print_error("{}: {}\nTry `{} --help`.\n", name, why, name);
  return exit_error;
}

// Output that did not reach its reader (a redirection to a full disk) must not look like success.
int flushed(exit_code status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  print_error("scute: standard output: cannot write\n");
  return exit_error;
}

}  // namespace

int main(int argc, char** argv) {
  if (!open_standard_streams()) return exit_error;
  leave_the_shield(argv);
  CLI::App app{"Scute keeps objects in persistent memory: crash-consistent and self-repairing.",
               "scute"};
  exit_code status = exit_ok;
  try {
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("scute ") + scute_version());
    app.get_formatter()->column_width(34);
    app.footer(exit_code_help());
    add_create(app, status);
    add_info(app, status);
    add_check(app, status);
    add_engine(app, status);
    add_scrub(app, status);
    add_dump(app, status);
    add_stats(app, status);
    add_events(app, status);
    add_inject(app, status);
    add_shield(app, status);
    add_kv(app, status);
    add_pow(app, status);
    add_completion(app, status);
    add_version(app, status);
    app.parse(argc, argv);
    return flushed(status);
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request);
    return flushed(exit_ok);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  } catch (const failure& error) {
    std::fflush(stdout);
    print_error("scute: {}\n", error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    print_error("scute: out of memory\n");
  } catch (const std::exception& error) {
    print_error("scute: {}\n", error.what());
  }
  return exit_error;
}
