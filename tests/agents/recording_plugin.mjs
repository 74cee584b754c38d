// The plugin that OpenCode loads in tests. It does for each event what its rules say, which the
// variable HOOK_RULES names: `{"deny": REASON}` throws, `{"redirect": true}` replaces the paths of
// `redirects` in the tool's arguments, `{"context": TEXT}` adds a part to the user's message or a
// line to the tool's result.
import { appendFileSync, readFileSync } from "node:fs";

const rules = JSON.parse(readFileSync(process.env.HOOK_RULES, "utf8"));

function hook(event) {
  return async (input, output) => {
    appendFileSync(rules.log, JSON.stringify([event, { input, output }]) + "\n");
    const reply = rules.replies[event] ?? {};
    if (reply.deny) throw new Error(reply.deny);
    if (reply.redirect) {
      let text = JSON.stringify(output.args);
      for (const [old, path] of Object.entries(rules.redirects)) text = text.replaceAll(old, path);
      Object.assign(output.args, JSON.parse(text));
    }
    if (reply.context && event === "tool.execute.after") output.output += `\n${reply.context}`;
    if (reply.context && event === "chat.message") {
      const { id, ...part } = output.parts[0];
      output.parts.push({ ...part, id: `${id}x`, text: reply.context, synthetic: true });
    }
  };
}

export const Recording = async () => ({
  "chat.message": hook("chat.message"),
  "tool.execute.before": hook("tool.execute.before"),
  "tool.execute.after": hook("tool.execute.after"),
});
