// A program that talks to a server through the npm SDK 1.x, and tells what it saw: see tests/fakes/mcp_2x_client.py.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

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
    await client.callTool({ name, arguments: args }, undefined, { onprogress, signal: giveUp.signal });
  } catch (error) {
    if (!giveUp.signal.aborted) throw error;
  }
  return told;
}

const transport = transportTo(plan.server);
let protocol = "";
const settle = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocol = version;
  settle?.(version);
};
const client = new Client({ name: "npm-sdk-1", version: "1" });
await client.connect(transport);
const seen = { protocol, server: client.getServerVersion().name };
seen.tools = (await client.listTools()).tools;
seen.pinged = Object.keys(await client.ping()).length === 0;
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
