// SPDX-License-Identifier: BSD-3-Clause
#include "completion_script.hpp"

#include <fmt/format.h>

namespace scute_tool {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

// "auto|dax|file" are choices, "SIZE" is not.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find('|') == std::string::npos ? std::vector<std::string>{} : split(type, '|');
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// In single quotes for a POSIX shell and zsh.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

void collect(const CLI::App& app, const std::string& path, std::vector<completion_level>& levels) {
  completion_level level;
  level.path = path;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    level.commands.push_back({sub->get_name(), sub->get_description()});
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      if (level.arguments.empty()) level.arguments = choices_of(*option);
      continue;
    }
    completion_option o;
    for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
    o.help = option->get_description();
    o.takes_value = option->get_items_expected_max() > 0;
    if (o.takes_value) o.choices = choices_of(*option);
    level.options.push_back(std::move(o));
  }
  levels.push_back(std::move(level));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    collect(*sub, path + " " + sub->get_name(), levels);
}

std::vector<std::string> command_names(const completion_level& level) {
  std::vector<std::string> names;
  for (const completion_word& command : level.commands) names.push_back(command.word);
  return names;
}

std::vector<std::string> option_names(const completion_level& level, bool taking_value) {
  std::vector<std::string> names;
  for (const completion_option& option : level.options) {
    if (taking_value && !option.takes_value) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// A case pattern of the paths of all levels but the root: 'scute kv'|'scute kv get'
std::string path_pattern(const std::vector<completion_level>& levels) {
  std::vector<std::string> paths;
  for (size_t i = 1; i < levels.size(); ++i) paths.push_back("'" + levels[i].path + "'");
  return fmt::format("{}", fmt::join(paths, "|"));
}

// case "$path $previous" in ('scute create --medium') <action> ... esac
template <class Action>
std::string value_cases(const std::vector<completion_level>& levels, const Action& action) {
  std::string text;
  for (const completion_level& level : levels) {
    for (const completion_option& option : level.options) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("'{} {}'", level.path, name));
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), action(option));
    }
  }
  return text;
}

}  // namespace

std::vector<completion_level> completion_levels(const CLI::App& root) {
  std::vector<completion_level> levels;
  collect(root, "scute", levels);
  return levels;
}

std::string bash_completion(const std::vector<completion_level>& levels) {
  std::string text =
      "# bash completion for scute, written by `scute completion bash`\n"
      "_scute() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local path=scute i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$path ${COMP_WORDS[i]}\" in\n";
  text += fmt::format("      {}) path=\"$path ${{COMP_WORDS[i]}}\" ;;\n", path_pattern(levels));
  text +=
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$path $previous\" in\n";
  text += value_cases(levels, [](const completion_option& option) {
    const std::string generate =
        option.choices.empty() ? "-f" : "-W " + quoted(join(option.choices));
    return fmt::format("COMPREPLY=($(compgen {} -- \"$cur\")); return", generate);
  });
  text +=
      "  esac\n"
      "  local commands= options= arguments=\n"
      "  case \"$path\" in\n";
  for (const completion_level& level : levels) {
    text += fmt::format("    '{}') commands={} options={} arguments={} ;;\n", level.path,
                        quoted(join(command_names(level))),
                        quoted(join(option_names(level, false))), quoted(join(level.arguments)));
  }
  text +=
      "  esac\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "  elif [[ -n $commands$arguments ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$commands $arguments\" -- \"$cur\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _scute scute\n";
  return text;
}

std::string zsh_completion(const std::vector<completion_level>& levels) {
  // _describe takes "word:help" with colons of the word escaped.
  const auto described = [](const std::string& word, const std::string& help) {
    return quoted(word + ":" + help);
  };
  std::string text =
      "#compdef scute\n"
      "# zsh completion for scute, written by `scute completion zsh`\n"
      "_scute() {\n"
      "  local level=scute i\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$level ${words[i]}\" in\n";
  text += fmt::format("      {}) level=\"$level ${{words[i]}}\" ;;\n", path_pattern(levels));
  text +=
      "    esac\n"
      "  done\n"
      "  case \"$level ${words[CURRENT-1]}\" in\n";
  text += value_cases(levels, [](const completion_option& option) {
    return option.choices.empty() ? std::string("_files; return")
                                  : fmt::format("compadd -- {}; return", join(option.choices));
  });
  text +=
      "  esac\n"
      "  local -a commands options arguments\n"
      "  case \"$level\" in\n";
  for (const completion_level& level : levels) {
    text += fmt::format("    '{}')\n      commands=(", level.path);
    for (const completion_word& c : level.commands) text += " " + described(c.word, c.help);
    text += " )\n      options=(";
    for (const completion_option& option : level.options) {
      for (const std::string& name : option.names) text += " " + described(name, option.help);
    }
    text += fmt::format(" )\n      arguments=( {} )\n      ;;\n", join(level.arguments));
  }
  text +=
      "  esac\n"
      "  if [[ ${words[CURRENT]} == -* ]]; then\n"
      "    _describe option options\n"
      "  elif (( ${#commands} )); then\n"
      "    _describe command commands\n"
      "  elif (( ${#arguments} )); then\n"
      "    compadd -- $arguments\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}\n"
      "if [[ ${funcstack[1]} == _scute ]]; then _scute \"$@\"; else compdef _scute scute; fi\n";
  return text;
}

std::string fish_completion(const std::vector<completion_level>& levels) {
  std::string text =
      "# fish completion for scute, written by `scute completion fish`\n"
      "function __scute_level\n"
      "  set -l level scute\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$level $word\"\n";
  std::vector<std::string> paths;
  for (size_t i = 1; i < levels.size(); ++i) paths.push_back(fish_quoted(levels[i].path));
  text += fmt::format("      case {}\n", join(paths));
  text +=
      "        set level \"$level $word\"\n"
      "    end\n"
      "  end\n"
      "  echo $level\n"
      "end\n";
  for (const completion_level& level : levels) {
    const std::string when =
        fmt::format("complete -c scute -n \"test (__scute_level) = '{}'\"", level.path);
    for (const completion_word& c : level.commands)
      text += fmt::format("{} -f -a {} -d {}\n", when, c.word, fish_quoted(c.help));
    if (!level.arguments.empty())
      text += fmt::format("{} -f -a {}\n", when, fish_quoted(join(level.arguments)));
    for (const completion_option& option : level.options) {
      text += when;
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.takes_value) text += " -r";
      if (!option.choices.empty())
        text += fmt::format(" -f -a {}", fish_quoted(join(option.choices)));
      text += fmt::format(" -d {}\n", fish_quoted(option.help));
    }
  }
  return text;
}

}  // namespace scute_tool
