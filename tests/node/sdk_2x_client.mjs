// A program that talks to a server through the npm SDK 2.x, and tells what it saw: see tests/fakes/mcp_2x_client.py.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const plan = JSON.parse(process.argv.at(-1));

function transportTo(server) {
  if (server.url === undefined) {
    const [command, ...args] = server.command;
    return new StdioClientTransport({ command, args, env: server.env });
  }
  const headers = { Authorization: `Bearer ${server.token}` };
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
}

async function called(client, [name, args]) {
  try {
    return await client.callTool({ name, arguments: args });
  } catch (error) {
    return { protocolError: error.message };
  }
}

// Make a call, and give it up when progress has been told twice, and that far; what was told.
async function cancelled(client, [name, args]) {
  const told = [];
  const giveUp = new AbortController();
  const onprogress = ({ message }) => {
    told.push(message ?? "");
    if (told.length >= 2 && told.at(-1).includes(plan.until)) giveUp.abort();
  };
  try {
    await client.callTool({ name, arguments: args }, { onprogress, signal: giveUp.signal });
  } catch (error) {
    if (!giveUp.signal.aborted) throw error;
  }
  return told;
}

const client = new Client({ name: "npm-sdk-2", version: "1" }, { versionNegotiation: { mode: plan.mode } });
await client.connect(transportTo(plan.server));
const seen = { protocol: client.getNegotiatedProtocolVersion(), server: client.getServerVersion().name };
seen.tools = (await client.listTools()).tools;
// The revision without a handshake has no ping.
seen.pinged = seen.protocol >= "2026" || Object.keys(await client.ping()).length === 0;
seen.calls = [];
for (const call of plan.calls) seen.calls.push(await called(client, call));
seen.progress = await cancelled(client, plan.endless);
seen.after = [];
for (const call of plan.after) seen.after.push(await called(client, call));
seen.templates = (await client.listResourceTemplates()).resourceTemplates;
const uri = plan.read.replace("{id}", seen.after.at(-1).structuredContent.artifact);
seen.read = (await client.readResource({ uri })).contents;
await client.close();
process.stdout.write(JSON.stringify(seen));
