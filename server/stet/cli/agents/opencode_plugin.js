// Stet's plugin for OpenCode: its edits wait as hunks in the editor that has the folder open.
// Written by `stet agents install opencode --write`, removed by `stet agents uninstall opencode --write`.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const STET = "STET";
const READS = ["read"];
const WRITES = ["edit", "write", "apply_patch"];
const SECONDS = 30;

// Return the answer of `stet hook` to an event; throw if it fails, or does not answer in time.
// Without Stet's program, the answer is that of a Stet that no editor runs.
function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(STET, ["hook", "opencode"], { stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => {
      reject(new Error(`stet hook has not answered for ${SECONDS} seconds`));
      child.kill("SIGKILL");
      for (const stream of child.stdio) stream.destroy();
    }, SECONDS * 1000);
    let output = "";
    let problem = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (problem += data));
    child.stdin.on("error", () => {}); // the exit code says more
    child.on("error", (error) => {
      clearTimeout(timer);
      if (error.code === "ENOENT") resolve({});
      else reject(error);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0) return reject(new Error(problem.trim() || `stet hook ended: ${signal ?? code}`));
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
  const given = (name) => isAbsolute(process.env[name] ?? "") && process.env[name];
  const runtime = given("XDG_RUNTIME_DIR");
  if (runtime) return join(runtime, "stet", "shadow");
  const usual = process.platform === "darwin" ? join("Library", "Caches") : ".cache";
  return join(given("XDG_CACHE_HOME") || join(homedir(), usual), "stet", "run", "shadow");
}

// Allow the copies of OpenCode's sessions, which are outside of the workspace. Rules for other
// paths don't fit them: `action` looks at the file itself.
function allowCopies(holder, worktree) {
  const given = holder.permission ?? {};
  const permission = typeof given === "string" ? { "*": given } : given;
  const before = permission.external_directory;
  const rules = typeof before === "string" ? { "*": before } : before;
  const below = (folder) => join(folder, "*", "opencode-*", "*").replaceAll("\\", "/");
  permission.external_directory = { ...rules, [below(copies())]: "allow" };
  for (const rules of [permission.read, permission.edit]) {
    const isOfPaths = typeof rules === "object" && Object.keys(rules).at(-1) !== "*";
    if (isOfPaths) rules[below(relative(worktree, copies()))] = "allow";
  }
  holder.permission = permission;
}

// Return whether a pattern of a rule matches a text, as OpenCode does.
function matches(text, pattern) {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${escaped}$`, "s").test(text);
}

// Return the paths that a call names.
function named(tool, args) {
  if (tool !== "apply_patch") return [args.filePath];
  const headers = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$/gm;
  return [...String(args.patchText).matchAll(headers)].map((header) => header[1]);
}

// Return the path of the file that a part of a prompt attaches, or undefined.
function attached(part) {
  try {
    if (part.type === "file") return fileURLToPath(part.url);
  } catch {
    return undefined; // no file of the disk
  }
}

export const Stet = async ({ client, directory, worktree }) => {
  // By id, what OpenCode knows of a session.
  const sessions = new Map();
  // By id of a session, the name of the agent that works in it.
  const agents = new Map();
  // By id of a call, what the agent is to read with its result.
  const notes = new Map();

  async function about(session) {
    if (!sessions.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined);
      if (!found?.data) return {};
      sessions.set(session, found.data);
    }
    return sessions.get(session);
  }

  // Return the strictest action of the user's rules for the files of a call: allow, ask or deny.
  async function action(session, tool, args) {
    const known = await about(session);
    const { data } = await client.app.agents();
    const name = agents.get(session) ?? known.agent;
    const rules = data.find((agent) => agent.name === name)?.permission;
    if (!Array.isArray(rules)) throw new Error("OpenCode does not name the rules of its agent");
    const all = [...rules, ...(known.permission ?? [])];
    const permission = READS.includes(tool) ? "read" : "edit";
    const actions = named(tool, args).flatMap(originals).map((path) => {
      const text = relative(worktree, path).replaceAll("\\", "/");
      const fits = (rule) => matches(permission, rule.permission) && matches(text, rule.pattern);
      return all.filter(fits).at(-1)?.action ?? "ask";
    });
    return ["deny", "ask"].find((one) => actions.includes(one)) ?? "allow";
  }

  // Return the files that a path may mean: the copy of a file is allowed as the file is.
  function originals(path) {
    const absolute = resolve(directory, path);
    if (!isCopy(path)) return [absolute];
    const name = relative(copies(), absolute).split(sep).slice(2).join(sep);
    return [resolve(worktree, name), resolve(directory, name)];
  }

  function isCopy(path) {
    return resolve(directory, path).startsWith(copies() + sep);
  }

  async function hook(session, name, more) {
    const event = { hook_event_name: name, session_id: session, cwd: directory, ...more };
    return ask({ ...event, parent_id: (await about(session)).parentID });
  }

  return {
    config: async (config) => {
      allowCopies(config, worktree);
      for (const agent of Object.values(config.agent ?? {})) {
        if (agent?.permission) allowCopies(agent, worktree);
      }
    },
    "chat.message": async (input, output) => {
      agents.set(input.sessionID, output.message.agent);
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const more = {
        prompt: texts.map((part) => part.text).join("\n"),
        files: output.parts.map(attached).filter(Boolean),
      };
      const answer = await hook(input.sessionID, "UserPromptSubmit", more).catch(() => ({}));
      const last = output.parts.at(-1);
      if (!answer.additionalContext || !last) return;
      const { sessionID, messageID } = last;
      const text = answer.additionalContext;
      output.parts.push({ id: `${last.id}stet`, sessionID, messageID, type: "text", text, synthetic: true });
    },
    "tool.execute.before": async (input, output) => {
      const isRead = READS.includes(input.tool);
      if (!isRead && !WRITES.includes(input.tool)) return;
      const call = { tool_name: input.tool, tool_input: output.args };
      let answer;
      let rule;
      try {
        answer = await hook(input.sessionID, "PreToolUse", call);
        if (answer.updatedInput) rule = await action(input.sessionID, input.tool, output.args);
      } catch (error) {
        if (isRead) return;
        throw new Error(`The edit was not made: the user reviews edits with Stet, and ${error.message}`);
      }
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason);
      if (!answer.updatedInput) return;
      if (rule === "deny" || (isRead && rule === "ask")) {
        const isOriginal = named(input.tool, output.args).every((path) => !isCopy(path));
        if (isRead && isOriginal) return; // OpenCode refuses the file, or asks the user
        throw new Error(`The user's rules do not allow this${isOriginal ? "" : " copy. Use the file itself"}.`);
      }
      Object.assign(output.args, answer.updatedInput);
      if (answer.additionalContext) notes.set(input.callID, answer.additionalContext);
    },
    "tool.execute.after": async (input, output) => {
      const texts = [notes.get(input.callID)];
      notes.delete(input.callID);
      if (WRITES.includes(input.tool)) {
        const call = { tool_name: input.tool, tool_input: input.args };
        const answer = await hook(input.sessionID, "PostToolUse", call).catch((error) => ({
          additionalContext: `This edit was not proposed to the user: ${error.message}`,
        }));
        texts.push(answer.additionalContext);
      }
      const more = texts.filter(Boolean).join(" ");
      if (more) output.output += `\n${more}`;
    },
    event: async ({ event }) => {
      const ends = { "session.idle": "Stop", "session.deleted": "SessionEnd" };
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      if (Object.hasOwn(ends, event.type) && session) {
        await hook(session, ends[event.type]).catch(() => ({}));
      }
    },
  };
};
