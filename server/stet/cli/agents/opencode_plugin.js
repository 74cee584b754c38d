// Stet's plugin for OpenCode: its edits wait as hunks in the editor that has the folder open.
// Written by `stet agents install opencode --write`, removed by `stet agents uninstall opencode --write`.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

const STET = "STET";
const READS = ["read"];
const TOOLS = ["read", "edit", "write", "apply_patch"];
const SECONDS = 30;

// Return the answer of `stet hook` to an event; throw if there is none.
function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(STET, ["hook", "opencode"], { stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), SECONDS * 1000);
    let output = "";
    let problem = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (problem += data));
    child.stdin.on("error", () => {}); // the exit code says more
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code !== 0) return reject(new Error(problem.trim() || `stet hook ended with ${code}`));
      try {
        const answer = JSON.parse(output);
        resolve(answer.hookSpecificOutput ?? {});
      } catch (error) {
        reject(error);
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

// The folder with the copies of all servers, as `stet` names it.
function copies() {
  const runtime = process.env.XDG_RUNTIME_DIR;
  if (runtime) return join(runtime, "stet", "shadow");
  const cache =
    process.platform === "darwin"
      ? join(homedir(), "Library", "Caches")
      : (process.env.XDG_CACHE_HOME || join(homedir(), ".cache"));
  return join(cache, "stet", "run", "shadow");
}

export const Stet = async ({ directory }) => {
  const about = (input, name, more) => ({
    hook_event_name: name,
    session_id: input.sessionID,
    cwd: directory,
    ...more,
  });
  return {
    // The copies are outside of the workspace.
    config: async (config) => {
      const permission = (config.permission ??= {});
      const before = permission.external_directory;
      const rules = typeof before === "object" ? before : before ? { "*": before } : {};
      permission.external_directory = { ...rules, [`${copies()}/*`]: "allow" };
    },
    "chat.message": async (input, output) => {
      const answer = await ask(about(input, "UserPromptSubmit")).catch(() => ({}));
      const first = output.parts.find((part) => part.type === "text");
      if (answer.additionalContext && first) {
        const text = answer.additionalContext;
        output.parts.push({ ...first, id: `${first.id}stet`, text, synthetic: true });
      }
    },
    "tool.execute.before": async (input, output) => {
      if (!TOOLS.includes(input.tool)) return;
      const call = { tool_name: input.tool, tool_input: output.args };
      let answer;
      try {
        answer = await ask(about(input, "PreToolUse", call));
      } catch (error) {
        if (READS.includes(input.tool)) return;
        throw new Error(`The edit was not made: the user reviews edits with Stet, and ${error.message}`);
      }
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason);
      if (answer.updatedInput) Object.assign(output.args, answer.updatedInput);
      notes.set(input.callID, answer.additionalContext ?? "");
    },
    "tool.execute.after": async (input, output) => {
      if (!TOOLS.includes(input.tool)) return;
      const before = notes.get(input.callID) ?? "";
      notes.delete(input.callID);
      const call = { tool_name: input.tool, tool_input: input.args };
      const answer = await ask(about(input, "PostToolUse", call)).catch((error) => ({
        additionalContext: `This edit was not proposed to the user: ${error.message}`,
      }));
      const more = [before, answer.additionalContext].filter(Boolean).join(" ");
      if (more) output.output += `\n${more}`;
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID;
      if (event.type === "session.idle" && session) {
        await ask(about({ sessionID: session }, "Stop")).catch(() => ({}));
      }
    },
  };
};

// What the agent is to read with the result of a call, by the id of the call.
const notes = new Map();
