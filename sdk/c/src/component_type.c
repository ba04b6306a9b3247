/* The bindings ask for an object file that holds the component's type. `faucet plugin build` adds the type by itself,
 * so that no binary file has to be kept here. */
void __component_type_object_force_link_wire(void);
void __component_type_object_force_link_wire(void) {}
