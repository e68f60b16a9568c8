import { Button } from "react-aria-components/Button";
import { Icon } from "./icon.tsx";
import { nextTheme, setTheme, useTheme } from "./theme.ts";

const ICONS = { system: "system", light: "sun", dark: "moon" } as const;

export function ThemeToggle() {
  const theme = useTheme();
  const next = nextTheme(theme);
  return (
    <Button
      className="button icon-button"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      onPress={() => setTheme(next)}
    >
      <Icon name={ICONS[theme]} />
    </Button>
  );
}
