#include "options.hpp"

#include "bench_common.hpp"
#include "config.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace app {

void Options::add(const char* name, const char* type, const char* standard, const char* help, Decides decides,
                  const char* group) {
    all_.push_back({name, type, help, group, standard, standard, decides});
}

void Options::add_flag(const char* name, const char* help, Decides decides, const char* group) {
    all_.push_back({name, "", help, group, "false", "false", decides, true});
}

void Options::declare(CLI::App& command) {
    for (One& one : all_) {
        const std::string flag = "--" + one.name;
        if (!one.is_flag && !one.value.empty()) one.help += " [" + one.value + "]";
        if (one.is_flag)
            one.parser = command.add_flag(flag, one.typed_flag, one.help);
        else
            one.parser = add_text(command, flag.c_str(), one.value, one.type.c_str(), one.help.c_str());
        one.parser->group(one.group);
    }
    add_text(command, "--config", config_file_, "FILE", "Read options from FILE; those typed here count before it")
        ->group("Files");
    command.add_flag("--print-config", print_config_, "Print all options as a config file, and exit")->group("Files");
}

Options::One* Options::look_up(std::string_view name) {
    for (One& one : all_)
        if (one.name == name) return &one;
    return nullptr;
}

const Options::One& Options::find(std::string_view name) const {
    for (const One& one : all_)
        if (one.name == name) return one;
    throw std::logic_error(fmt::format("there is no option '{}'", name));
}

bool Options::chosen(std::string_view name) const {
    const One& one = find(name);
    return one.configured || (one.parser && one.parser->count() > 0);
}

void Options::set(std::string_view name, const std::string& value) {
    find(name);
    look_up(name)->value = value;
}

void Options::read_config_file() {
    for (One& one : all_)
        if (one.is_flag && one.parser && one.parser->count() > 0) one.value = one.typed_flag ? "true" : "false";
    if (config_file_.empty()) return;
    if (std::error_code none; std::filesystem::is_directory(config_file_, none))
        throw UsageError(fmt::format("cannot read --config '{}': it is a folder", config_file_));
    std::ifstream file(config_file_, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad())
        throw UsageError(fmt::format("cannot read --config '{}': {}", config_file_, std::strerror(errno)));
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3); // a mark that some editors put first
    read_config(text, fmt::format("--config '{}'", config_file_));
}

void Options::read_config(std::string_view text, std::string_view source) {
    for (const ConfigLine& line : parse_config(text, source)) {
        One* one = look_up(line.name);
        if (!one)
            throw UsageError(fmt::format("{}, line {}: this command has no option '{}'", source, line.line, line.name));
        if (one->is_flag && line.value != "true" && line.value != "false")
            throw UsageError(fmt::format("{}, line {}: '{}' must be true or false, not '{}'", source, line.line,
                                         line.name, line.value));
        if (!one->parser || one->parser->count() == 0) one->value = line.value;
        one->configured = true;
    }
}

std::string Options::config(ConfigFor whom) const {
    constexpr std::string_view beside[] = {"json", "force-overwrite", "quiet", "dry-run"};
    std::string text;
    for (const One& one : all_) {
        if (whom == ConfigFor::checkpoint && one.decides == Decides::manner) continue;
        if (whom == ConfigFor::results && std::find(std::begin(beside), std::end(beside), one.name) != std::end(beside))
            continue;
        if (one.value.empty()) {
            if (whom != ConfigFor::checkpoint) text += fmt::format("# {} =\n", one.name);
            continue;
        }
        text += fmt::format("{} = {}\n", one.name, config_value(one.value));
    }
    return text;
}

} // namespace app
