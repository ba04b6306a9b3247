/** Modules that exist only inside a component: the host's interfaces, and the project's own entry. */
declare module "faucet:connector/host@0.1.0" {
  const host: import("../src/wire").HostBindings;
  export default host;
}

declare module "faucet:connector/text@0.1.0" {
  const text: import("../src/wire").TextBindings;
  export default text;
}

declare module "faucet-plugin" {
  const plugin: any;
  export default plugin;
}
