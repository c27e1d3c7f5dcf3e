// Options of a study command: each has a name, a text for its value and a place where it came from. The command line
// counts before a config file, and that before the default.
#pragma once

#include <deque>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace app {

// What an option decides: the data (kept in checkpoints, which resume with the same), or how a run goes about it.
enum class Decides { data, manner };

// A config file that gives the same again: `checkpoint` has what decides the data, `results` all but what a run says
// and does beside them (a file that replaced another must not make the next one do so), `user` everything.
enum class ConfigFor { checkpoint, results, user };

class Options {
  public:
    // An empty default is an option that need not be given.
    void add(const char* name, const char* type, const char* standard, const char* help, Decides decides,
             const char* group);
    void add_flag(const char* name, const char* help, Decides decides, const char* group);
    // All of them, --config and --print-config among them, onto the parser. This object must outlive it.
    void declare(CLI::App& command);

    // Once the command line is parsed: reads the config file, if one is named. Throws UsageError.
    void read_config_file();
    void read_config(std::string_view text, std::string_view source);
    std::string config(ConfigFor whom) const;
    bool asks_for_config() const { return print_config_; }

    const std::string& operator[](std::string_view name) const { return find(name).value; }
    bool given(std::string_view name) const { return !find(name).value.empty(); }
    bool flag(std::string_view name) const { return find(name).value == "true"; }
    bool chosen(std::string_view name) const; // on the command line or in a config file, and not left to the default
    const std::string& standard(std::string_view name) const { return find(name).standard; } // its default
    void set(std::string_view name, const std::string& value);                               // from the program itself

  private:
    struct One {
        std::string name, type, help, group, standard, value;
        Decides decides;
        bool is_flag = false, typed_flag = false, configured = false;
        CLI::Option* parser = nullptr;
    };
    const One& find(std::string_view name) const;
    One* look_up(std::string_view name);

    std::deque<One> all_; // the parser points into it
    std::string config_file_;
    bool print_config_ = false;
};

} // namespace app
